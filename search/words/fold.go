// Package words makes of a text the words by which it is found: folded, so that accents, case,
// width and typography do not matter. Texts and queries go through the same two functions, [Fold]
// and [Words]. The package is pure and knows no language.
package words

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns s as it is compared: in the compatibility form of Unicode (width, ligatures,
// superscripts), without accents and invisible characters, in folded case, with plain quotes and
// dashes, composed (NFC). Marks that are no accents, as the vowels of Thai or the voicing of kana,
// stay. Fold is stable across machines and idempotent; it does not trim. Bytes that are no UTF-8
// become U+FFFD.
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

// segment returns how many bytes at the beginning of s are folded together: a character with the
// marks that follow it.
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
		r, _ := utf8.DecodeRuneInString(s) // the way of most letters, twice as fast as the one below
		return appendRune(b, r)
	}
	f.decomposed = norm.NFKD.AppendString(f.decomposed[:0], s)
	f.folded = f.folded[:0]
	for _, r := range string(f.decomposed) {
		f.folded = appendRune(f.folded, r)
	}
	return norm.NFC.Append(b, f.folded...)
}

// appendRune appends the folded form of one decomposed rune to b. Upper and then lower case unites
// what differs in case only, as the two small sigmas; the one letter whose folded case is longer is
// among the variants.
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
