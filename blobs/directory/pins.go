package directory

import (
	"sync"

	"labshelf/blobs"
)

// beingRemoved is the count of a digest that is being removed.
const beingRemoved = -1

// pins excludes removals of blobs that are pinned.
type pins struct {
	mu     sync.Mutex
	freed  sync.Cond // a removal has ended
	counts map[blobs.Digest]int
}

func newPins() *pins {
	p := &pins{counts: make(map[blobs.Digest]int)}
	p.freed.L = &p.mu
	return p
}

// pin waits for a removal under way, counts one pin and returns the function that releases it.
func (p *pins) pin(digest blobs.Digest) (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.counts[digest] == beingRemoved {
		p.freed.Wait()
	}
	p.counts[digest]++
	return sync.OnceFunc(func() { p.unpin(digest) })
}

func (p *pins) unpin(digest blobs.Digest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[digest]--
	if p.counts[digest] == 0 {
		delete(p.counts, digest)
	}
}

// remove runs fn while no pin of the digest can be taken and no other removal of it runs, or
// returns [blobs.ErrPinned].
func (p *pins) remove(digest blobs.Digest, fn func() error) error {
	if !p.claim(digest) {
		return blobs.ErrPinned
	}
	defer p.unclaim(digest)
	return fn()
}

func (p *pins) claim(digest blobs.Digest) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.counts[digest] == beingRemoved {
		p.freed.Wait()
	}
	if p.counts[digest] > 0 {
		return false
	}
	p.counts[digest] = beingRemoved
	return true
}

func (p *pins) unclaim(digest blobs.Digest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.counts, digest)
	p.freed.Broadcast()
}
