package index

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// wordList contains the words of a zone in byte order, each followed by a separator, so that a scan
// of all bytes cannot match across words. The posting lists follow in the same order. A list has
// the differences of positions as varints, followed by a separator: no difference is 0, so none of
// their bytes is. The start of every wordsInBlock-th word and list is known.
type wordList struct {
	n        int
	heads    column // start of each block in texts
	lists    column // and in postings
	texts    []byte
	postings []byte
}

const wordsInBlock = 16

// wordWriter builds a wordList from words in order.
type wordWriter struct {
	n               int
	heads, lists    []uint64
	texts, postings []byte
}

// add adds a word that is greater than the last one, with its positions in ascending order.
func (w *wordWriter) add(word string, positions []uint32) {
	if w.n%wordsInBlock == 0 {
		w.heads = append(w.heads, uint64(len(w.texts)))
		w.lists = append(w.lists, uint64(len(w.postings)))
	}
	w.n++
	w.texts = append(append(w.texts, word...), separator)
	last := beforeFirst
	for _, p := range positions {
		w.postings = binary.AppendUvarint(w.postings, uint64(p-last))
		last = p
	}
	w.postings = append(w.postings, separator)
}

// beforeFirst is the base of the first difference: -1 as a wrapped uint32.
const beforeFirst = ^uint32(0)

func (w *wordWriter) bytes() []byte {
	count := binary.LittleEndian.AppendUint32(nil, uint32(w.n))
	return appendBundle(nil, count, columnOf(w.heads), columnOf(w.lists), w.texts, w.postings)
}

func openWords(b []byte) wordList {
	p := openBundle(b, 5)
	return wordList{int(binary.LittleEndian.Uint32(p.part(0))), openColumn(p.part(1)), openColumn(p.part(2)), p.part(3), p.part(4)}
}

// skip returns the i-th text after the head of a block, between its separators.
func skip(texts []byte, head uint64, i int) []byte {
	texts = texts[head:]
	for range i % wordsInBlock {
		texts = texts[bytes.IndexByte(texts, separator)+1:]
	}
	return texts[:bytes.IndexByte(texts, separator)]
}

// at returns a word by number.
func (l *wordList) at(i int) []byte {
	return skip(l.texts, l.heads.at(i/wordsInBlock), i)
}

// list returns the posting list of a word, without its separator.
func (l *wordList) list(i int) []byte {
	return skip(l.postings, l.lists.at(i/wordsInBlock), i)
}

// lower returns the number of the first word that is not less than word, and the bytes of this word
// and all later ones.
func (l *wordList) lower(word []byte) (int, []byte) {
	blocks := (l.n + wordsInBlock - 1) / wordsInBlock
	block := max(0, sort.Search(blocks, func(b int) bool { return bytes.Compare(l.at(b*wordsInBlock), word) >= 0 })-1)
	if l.n == 0 {
		return 0, nil
	}
	i := block * wordsInBlock
	rest := l.texts[l.heads.at(block):]
	for i < l.n {
		end := bytes.IndexByte(rest, separator)
		if bytes.Compare(rest[:end], word) >= 0 {
			break
		}
		i, rest = i+1, rest[end+1:]
	}
	return i, rest
}

// find returns the number of a word.
func (l *wordList) find(word []byte) (int, bool) {
	i, rest := l.lower(word)
	return i, len(rest) > len(word) && rest[len(word)] == separator && bytes.HasPrefix(rest, word)
}

// holding returns the number of the word at an offset in the bytes of all words, with its begin and
// end.
func (l *wordList) holding(offset int) (i, begin, end int) {
	blocks := (l.n + wordsInBlock - 1) / wordsInBlock
	block := sort.Search(blocks, func(b int) bool { return int(l.heads.at(b)) > offset }) - 1
	head := int(l.heads.at(block))
	before := l.texts[head:offset]
	begin = head + bytes.LastIndexByte(before, separator) + 1
	end = offset + bytes.IndexByte(l.texts[offset:], separator)
	return block*wordsInBlock + bytes.Count(before, []byte{separator}), begin, end
}
