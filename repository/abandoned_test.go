package repository_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"labshelf/repository"
)

// TestAbandonedInPlace: what was put in its place, and could not be written down, goes with its transfer, unless somebody else needs it.
func TestAbandonedInPlace(t *testing.T) {
	t.Parallel()
	for _, needed := range []bool{false, true} {
		for _, expires := range []bool{false, true} {
			p := newPartly(t)
			ctx, set, content := t.Context(), p.sets[0].ID.String(), "0123456789"
			begun := p.begin(p.admin, "file", content, content[:5])
			_, err := p.svc.DeleteSet(ctx, p.admin, set, always)
			p.ok(err)
			_, err = p.add(p.admin, begun, content[5:])
			wantCode(t, err, repository.CodeParentDeleted)
			begun = p.stored(begun.ID)
			_, err = p.svc.RestoreSet(ctx, p.admin, set, always)
			p.ok(err)
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
