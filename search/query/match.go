package query

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"labshelf/search/words"
)

// setWords sets Words to the words of a text, and Others to their other spellings.
func (c *Clause) setWords(text string) {
	var others [][]words.Spelling
	some := false
	for w := range words.Words(text) {
		c.Words = append(c.Words, w.Text)
		others = append(others, w.Spellings(text))
		some = some || others[len(others)-1] != nil
	}
	if some {
		c.Others = others
	}
}

// Spellings yields the spellings of the i-th word: the folded word, and the others. Whole is set if
// the spelling only matches as a whole word, regardless of its position.
func (c *Clause) Spellings(i int) iter.Seq[words.Spelling] {
	return func(yield func(words.Spelling) bool) {
		if !yield(words.Spelling{Text: c.Words[i], Whole: c.Whole}) || c.Others == nil {
			return
		}
		for _, s := range c.Others[i] {
			s.Whole = s.Whole || c.Whole
			if !yield(s) {
				return
			}
		}
	}
}

// Word returns a clause with only the i-th word.
func (c *Clause) Word(i int) Clause {
	word := *c
	word.Words = c.Words[i : i+1]
	if c.Others != nil {
		word.Others = c.Others[i : i+1]
	}
	return word
}

// IsText reports whether a folded text is the tag of a Tag clause, or the username of a By clause.
func (c *Clause) IsText(folded string) bool {
	if folded == c.Text {
		return true
	}
	for _, others := range c.Others {
		for _, s := range others {
			if s.Text == folded {
				return true
			}
		}
	}
	return false
}

// Quality is the quality of a match of words. More is better.
type Quality int

// Qualities of a match. Zero means no match.
const (
	Inside Quality = iota + 1 // inside a word; of several words, the first is the end of a word
	Prefix                    // the last word is a prefix
	Whole                     // all are whole words
)

// Quality returns the quality of the match between the words of the clause and adjacent folded
// words of a text.
func (c *Clause) Quality(found []string, inName bool) Quality {
	last := len(c.Words) - 1
	isEqual := func(i int) bool {
		return c.fits(i, func(s words.Spelling) bool { return found[i] == s.Text })
	}
	begins := func() bool {
		return c.fits(last, func(s words.Spelling) bool {
			return found[last] == s.Text || !s.Whole && strings.HasPrefix(found[last], s.Text)
		})
	}
	for i := 1; i < last; i++ {
		if !isEqual(i) {
			return 0
		}
	}
	switch {
	case isEqual(0) && isEqual(last):
		return Whole
	case last > 0 && !begins():
		return 0
	case last == 0 && begins(), last > 0 && isEqual(0):
		return Prefix
	case inName && c.fits(0, func(s words.Spelling) bool { return isInside(found[0], s, last > 0) }):
		return Inside
	}
	return 0
}

// fits reports whether holds returns true for a spelling of the i-th word.
func (c *Clause) fits(i int, holds func(words.Spelling) bool) bool {
	for s := range c.Spellings(i) {
		if holds(s) {
			return true
		}
	}
	return false
}

// isInside reports whether a spelling is inside a word of a name, or at its end.
func isInside(word string, s words.Spelling, atEnd bool) bool {
	switch {
	case s.Whole || utf8.RuneCountInString(s.Text) < 2:
		return false
	case atEnd:
		return strings.HasSuffix(word, s.Text)
	}
	return strings.Contains(word, s.Text)
}

// IsPath reports whether a folded path matches a Property clause, in any spelling.
func (c *Clause) IsPath(folded string) bool {
	return folded == c.Path || slices.Contains(c.OtherPaths, folded)
}
