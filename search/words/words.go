package words

import (
	"iter"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxBytes is the maximum length of a Word. A longer word is cut, in texts and in queries alike: a
// query for the whole word finds it, and every other word with the same beginning.
const MaxBytes = 64

// Word is one word of a text.
type Word struct {
	Text       string // folded, never empty, at most MaxBytes; it may share memory with the text
	Start, End int    // its position in the original text, in bytes: text[Start:End]
}

// Words returns the words of s in order. A word is a run of letters, digits and marks; in scripts
// without spaces each character, with its marks, is a separate word. The texts of Words(s) and of
// Words(Fold(s)) are the same.
func Words(s string) iter.Seq[Word] {
	return func(yield func(Word) bool) {
		sp := splitter{s: s, yield: yield}
		for i := 0; i < len(s) && !sp.stopped; {
			n := segment(s[i:])
			sp.segment(i, i+n)
			i += n
		}
		sp.flush()
	}
}

// splitter joins segments to words.
type splitter struct {
	s       string
	yield   func(Word) bool
	stopped bool

	folder     folder
	folded     []byte // the current segment
	word       []byte // the folded word so far
	start, end int    // its position in s
	unspaced   bool   // it is a character of a script without spaces: only marks can follow
}

// segment adds the segment s[start:end].
func (p *splitter) segment(start, end int) {
	if end-start == 1 && p.s[start] < utf8.RuneSelf {
		p.ascii(start)
		return
	}
	p.folded = p.folder.append(p.folded[:0], p.s[start:end])
	for _, r := range string(p.folded) {
		p.rune(r, start, end)
	}
}

// ascii adds the segment of one byte at i.
func (p *splitter) ascii(i int) {
	c := lower(p.s[i])
	if c < '0' || '9' < c && c < 'a' || 'z' < c {
		p.flush()
		return
	}
	if p.unspaced {
		p.flush()
	}
	p.add(i, i+1)
	p.word = append(p.word, c)
}

// rune adds one folded rune of the segment s[start:end].
func (p *splitter) rune(r rune, start, end int) {
	if !isWord(r) {
		p.flush()
		return
	}
	solo := isUnspaced(r)
	if solo || p.unspaced && !unicode.IsMark(r) {
		p.flush()
	}
	p.add(start, end)
	p.word = utf8.AppendRune(p.word, r)
	p.unspaced = p.unspaced || solo
}

// add extends the current word, or begins one, with s[start:end].
func (p *splitter) add(start, end int) {
	if len(p.word) == 0 {
		p.start = start
	}
	p.end = end
}

// flush ends the current word, if there is one.
func (p *splitter) flush() {
	if len(p.word) == 0 || p.stopped {
		return
	}
	text := p.s[p.start:p.end]
	if string(p.word) != text {
		text = norm.NFC.String(string(p.word))
	}
	p.stopped = !p.yield(Word{cut(text), p.start, p.end})
	p.word, p.unspaced = p.word[:0], false
}

// cut returns the beginning of a word that is longer than MaxBytes.
func cut(word string) string {
	if len(word) <= MaxBytes {
		return word
	}
	n := MaxBytes
	for !utf8.RuneStart(word[n]) {
		n--
	}
	return word[:n]
}
