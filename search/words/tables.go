package words

import "unicode"

// variants are the plain forms of characters that Unicode does not decompose: typographic quotes
// and dashes, and Latin letters whose stroke or ligature is not an accent in Unicode, although
// people type them without it. They are in folded case.
var variants = map[rune]string{
	'‘': "'", '’': "'", '‚': "'", '‛': "'", '′': "'", 'ʹ': "'", 'ʻ': "'", 'ʼ': "'", 'ʽ': "'",
	'“': `"`, '”': `"`, '„': `"`, '‟': `"`, '″': `"`,
	'‐': "-", '‑': "-", '‒': "-", '–': "-", '—': "-", '―': "-", '−': "-",
	'⁄': "/", '∕': "/",
	'ß': "ss", 'æ': "ae", 'ð': "d", 'đ': "d", 'ħ': "h", 'ı': "i", 'ł': "l", 'ø': "o", 'œ': "oe", 'þ': "th", 'ŧ': "t",
	tatweel: "",
}

const (
	tatweel        = '\u0640' // lengthens Arabic words
	zeroWidthSpace = '\u200b' // separates words
	firstUnspaced  = '\u0e01' // Thai
	prolongedSound = '\u30fc' // of both kana, without a script in Unicode
)

// accented lists the scripts whose marks are accents, points or strokes that people omit. The marks
// of other scripts are vowels and the like.
var accented = []*unicode.RangeTable{
	unicode.Inherited, unicode.Common, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic, unicode.Syriac,
}

// voicing contains the two voicing marks of kana, which have no script in Unicode.
var voicing = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x3099, Hi: 0x309a, Stride: 1}}}

// unspaced lists the scripts without spaces between words. Each of their characters is a separate
// word.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
	unicode.Yi, unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham, unicode.Tai_Viet, unicode.Tangut, unicode.Nushu,
	unicode.Javanese, unicode.Balinese,
}

// isDropped reports whether comparisons ignore r: accents and invisible characters.
func isDropped(r rune) bool {
	switch {
	case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r):
		return unicode.In(r, accented...) && !unicode.Is(voicing, r)
	case unicode.Is(unicode.Cf, r):
		return r != zeroWidthSpace
	}
	return false
}

// isWord reports whether r, folded, is part of a word.
func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// isUnspaced reports whether r, folded, is a separate word, with the marks that follow it.
func isUnspaced(r rune) bool {
	if r < firstUnspaced {
		return false
	}
	return r == prolongedSound || unicode.In(r, unspaced...) && !unicode.IsMark(r)
}
