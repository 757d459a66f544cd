package fsck

import "math/bits"

// bitmap is a set of pages.
type bitmap []uint64

func newBitmap(pages uint64) bitmap { return make(bitmap, (pages+63)/64) }

// add reports whether the page was new to the set.
func (b bitmap) add(page uint64) bool {
	word, bit := &b[page/64], uint64(1)<<(page%64)
	added := *word&bit == 0
	*word |= bit
	return added
}

// pageCount is a number of pages, and the first of them.
type pageCount struct{ pages, first uint64 }

func (c *pageCount) add(word, at uint64) {
	if c.pages == 0 && word != 0 {
		c.first = at*64 + uint64(bits.TrailingZeros64(word))
	}
	c.pages += uint64(bits.OnesCount64(word))
}

// compare counts the pages of a file that are in both sets, and those that are in neither.
func (b bitmap) compare(other bitmap, past uint64) (both, neither pageCount) {
	for at := range b {
		within := ^uint64(0)
		if left := past - uint64(at)*64; left < 64 {
			within = 1<<left - 1
		}
		both.add(b[at]&other[at], uint64(at))
		neither.add(^(b[at]|other[at])&within, uint64(at))
	}
	return both, neither
}
