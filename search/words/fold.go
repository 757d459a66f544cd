// Package words splits a text into searchable words. It folds them, so that accents, case, width
// and typography do not matter. Texts and queries use the same two functions, [Fold] and [Words].
// The package is pure and independent of language.
package words

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns the form of s for comparisons: in the compatibility form of Unicode (width,
// ligatures, superscripts), without accents and invisible characters, in folded case, with plain
// quotes and dashes, composed (NFC). Marks that are not accents, such as the vowels of Thai or the
// voicing of kana, stay. Fold is stable across machines and idempotent; it does not trim. Invalid
// UTF-8 becomes U+FFFD.
func Fold(s string) string {
	if isPlain(s) {
		return s
	}
	var f folder
	b := make([]byte, 0, len(s)+8)
	for len(s) > 0 {
		n := segment(s)
		b = f.append(b, s[:n])
		s = s[n:]
	}
	return norm.NFC.String(string(b))
}

// isPlain reports whether s is its own folded form because it is ASCII without upper case.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf || 'A' <= s[i] && s[i] <= 'Z' {
			return false
		}
	}
	return true
}

// segment returns the length of the first unit of folding in s: a character with its following
// marks.
func segment(s string) int {
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return 1
	}
	return max(norm.NFKC.NextBoundaryInString(s, true), 1)
}

// folder folds segments, and reuses its buffers.
type folder struct {
	decomposed, folded []byte
}

// append appends the folded form of one segment to b.
func (f *folder) append(b []byte, s string) []byte {
	if len(s) == 1 && s[0] < utf8.RuneSelf {
		return append(b, lower(s[0]))
	}
	if p := norm.NFKD.PropertiesString(s); p.Size() == len(s) && p.Decomposition() == nil {
		r, _ := utf8.DecodeRuneInString(s) // the fast path for most letters
		return appendRune(b, r)
	}
	f.decomposed = norm.NFKD.AppendString(f.decomposed[:0], s)
	f.folded = f.folded[:0]
	for _, r := range string(f.decomposed) {
		f.folded = appendRune(f.folded, r)
	}
	return norm.NFC.Append(b, f.folded...)
}

// appendRune appends the folded form of one decomposed rune to b. Conversion to upper and then
// lower case unites letters that differ only in case, such as the two small sigmas. The one letter
// with a longer folded case is among the variants.
func appendRune(b []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		return append(b, lower(byte(r)))
	}
	r = unicode.ToLower(unicode.ToUpper(r))
	plain, ok := variants[r]
	switch {
	case ok:
		return append(b, plain...)
	case isDropped(r):
		return b
	}
	return utf8.AppendRune(b, r)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
