package words

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Spelling is another spelling of a word: "mueller" for "Müller", or "muller", the folded form of
// "Müller", for "mueller".
type Spelling struct {
	Text string // folded
	// Whole is set if too many other words begin with the text: it has fewer than minBeginning
	// letters, or its end was shortened, as in "glu" for "glue".
	Whole bool
}

const (
	maxSpellings = 8 // of one word, including itself: all for three letters with two spellings
	minBeginning = 4 // minimum letters of a shortened word that matches as prefix
	minShortened = 3 // minimum letters of a word whose end is shortened: "to" is not tried for "toe"
)

// Spellings returns the other spellings of a text, at most seven. The letters with two spellings
// are ä, ö, ü, å, æ, ø and œ, written as such or as ae, oe, ue or aa.
func Spellings(text string) []Spelling {
	decomposed := norm.NFKD.String(text)
	letters := twofold(decomposed)
	if len(letters) == 0 {
		return nil
	}
	var all []Spelling
	seen := map[string]bool{Fold(text): true}
	for long := range choices(len(letters)) {
		if len(seen) == maxSpellings {
			break
		}
		s, ok := written(decomposed, letters, long)
		if !seen[s.Text] {
			seen[s.Text] = true
			if ok {
				all = append(all, s)
			}
		}
	}
	return all
}

// Spellings returns the other spellings of a word of text.
func (w Word) Spellings(text string) []Spelling {
	original := text[w.Start:w.End]
	if cut(Fold(original)) != w.Text {
		original = w.Text // one of several words of a character, such as ½
	}
	var all []Spelling
	for _, s := range Spellings(original) {
		if s.Text = cut(s.Text); s.Text != w.Text {
			all = append(all, s)
		}
	}
	return all
}

// twoSpellings is a letter of a decomposed text with two spellings.
type twoSpellings struct {
	begin, end  int // its range, including marks
	short, long string
	isLong      bool // it folds to its long spelling
}

// twofold returns the letters of a decomposed text with two spellings.
func twofold(s string) []twoSpellings {
	var all []twoSpellings
	var before rune
	for i := 0; i < len(s); {
		letter, marks, size := character(s[i:])
		next, nextMarks, nextSize := character(s[i+size:])
		found := twoSpellings{i, i + size, string(letter), "", false}
		switch {
		case strings.ContainsRune("aou", letter) && strings.ContainsRune(marks, '\u0308'):
			found.long = string(letter) + "e"
		case letter == 'a' && strings.ContainsRune(marks, '\u030a'):
			found.long = "aa"
		case letter == 'ø':
			found.short, found.long = "o", "oe"
		case letter == 'æ', letter == 'œ':
			found.long, found.isLong = variants[letter], true
			found.short = found.long[:1]
		case marks == "" && nextMarks == "" && isPair(before, letter, next):
			found.long, found.isLong = string(letter)+string(next), true
			found.end += nextSize
		}
		if found.long != "" {
			all = append(all, found)
		}
		i, before = found.end, letter
	}
	return all
}

// character returns the first letter of a decomposed text in lower case, its marks, and their
// length in bytes. For an empty text it returns zero values.
func character(s string) (letter rune, marks string, size int) {
	if s == "" {
		return 0, "", 0
	}
	letter, size = utf8.DecodeRuneInString(s)
	marks = s[size:]
	if end := strings.IndexFunc(marks, func(r rune) bool { return !unicode.IsMark(r) }); end >= 0 {
		marks = marks[:end]
	}
	return unicode.ToLower(letter), marks, size + len(marks)
}

// isPair reports whether two letters can be the spelling of one. After a q, as in "frequency", they
// cannot.
func isPair(before, letter, next rune) bool {
	return letter == 'a' && next == 'a' || strings.ContainsRune("aou", letter) && next == 'e' && (letter != 'u' || before != 'q')
}

// choices yields functions that report whether the i-th of n letters has its long spelling: no
// letter, all, each one alone, and all except each one. For up to three letters these are all
// choices.
func choices(n int) iter.Seq[func(i int) bool] {
	return func(yield func(func(int) bool) bool) {
		if !yield(func(int) bool { return false }) || !yield(func(int) bool { return true }) {
			return
		}
		for other := range 2 * n {
			if !yield(func(i int) bool { return (i == other%n) == (other < n) }) {
				return
			}
		}
	}
}

// written returns a decomposed text with one choice of spellings. ok is false if the text is too
// short to search for.
func written(decomposed string, letters []twoSpellings, long func(i int) bool) (s Spelling, ok bool) {
	var b strings.Builder
	end, isShorter, isShorterAtEnd := 0, false, false
	for i, letter := range letters {
		b.WriteString(decomposed[end:letter.begin])
		end = letter.end
		if long(i) {
			b.WriteString(letter.long)
			continue
		}
		b.WriteString(letter.short)
		isShorter = isShorter || letter.isLong
		isShorterAtEnd = letter.isLong && end == len(decomposed)
	}
	b.WriteString(decomposed[end:])
	s.Text = Fold(b.String())
	count := utf8.RuneCountInString(s.Text)
	s.Whole = isShorterAtEnd || isShorter && count < minBeginning
	return s, !isShorterAtEnd || count >= minShortened
}
