package repository_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"
)

// TestAbandonedInPlace: what was put in its place, and could not be written down, goes with its transfer, unless somebody else needs it.
func TestAbandonedInPlace(t *testing.T) {
	t.Parallel()
	for _, needed := range []bool{false, true} {
		for _, expires := range []bool{false, true} {
			p := newPartly(t)
			const content = "0123456789"
			ctx, begun := t.Context(), p.waiting(content)
			whole, err := p.files.WholePart(begun.ID.String(), begun.Mark)
			p.ok(err)
			p.ok(whole.Place()) // as far as it came before the disk was full
			if needed {
				p.upload(p.sets[0], content)
			}
			if expires {
				p.now = p.now.Add(61 * time.Minute)
				p.ok(p.svc.Sweep(ctx))
			} else {
				p.ok(p.svc.EndTransfer(ctx, p.admin, begun.ID.String()))
			}
			if _, err := os.Stat(p.path(begun.Digest)); needed && err != nil || !needed && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("needed: %t, expires: %t: %v", needed, expires, err)
			}
			p.sound()
		}
	}
}
