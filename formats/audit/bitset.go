package audit

// bitset is a set of numbers that uses one bit for each number up to the greatest.
type bitset []uint64

// set adds or removes a number, and reports whether the set contained it.
func (b *bitset) set(n uint64, in bool) (was bool) {
	word, bit := n/64, uint64(1)<<(n%64)
	if word >= uint64(len(*b)) {
		if !in {
			return false
		}
		*b = append(*b, make([]uint64, word+1-uint64(len(*b)))...)
	}
	was = (*b)[word]&bit != 0
	if in {
		(*b)[word] |= bit
	} else {
		(*b)[word] &^= bit
	}
	return was
}

// each yields the numbers, ascending.
func (b bitset) each(yield func(uint64)) {
	for word, mask := range b {
		for bit := range uint64(64) {
			if mask>>bit&1 != 0 {
				yield(uint64(word)*64 + bit)
			}
		}
	}
}
