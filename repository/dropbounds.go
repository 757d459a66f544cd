package repository

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

const (
	// maxUnfinished is how many unfinished uploads a link may have: 16 people can send by its page, which sends 4 files at once. Each that begins
	// reads the rows of the others.
	maxUnfinished = 64
	// maxPause is for how long an upload of a link may pause before it gives way to another one.
	maxPause = time.Hour
)

// unfinished are the unfinished uploads of each link, and some that have ended: rows have no index by sender. It is safe for concurrent use, and the zero value has none.
type unfinished struct {
	mu sync.Mutex
	of map[metadata.ID][]metadata.ID
}

func (u *unfinished) get(link metadata.ID) []metadata.ID {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.of[link]
}

// put keeps ids, which the caller leaves unchanged.
func (u *unfinished) put(link metadata.ID, ids []metadata.ID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.of == nil {
		u.of = map[metadata.ID][]metadata.ID{}
	}
	u.of[link] = ids
}

// bound refuses an upload that is one too many beside the unfinished ones of the link. In the transaction that makes its row it has an id, and counts
// from then on: writers take turns. Where the refused one would find room without some that have paused too long, those are in d.giveWay.
func (d *drop) bound(tx *metadata.Tx, link visited, t *metadata.ResumableUpload) error {
	open, err := d.unfinished(tx, link.ID)
	if err != nil {
		return err
	}
	refused := link.crowded(open, t.Length)
	if refused == nil {
		if t.ID != (metadata.ID{}) && !d.service.stores.Node.Shared() {
			ids := []metadata.ID{t.ID}
			for _, other := range open {
				ids = append(ids, other.ID)
			}
			d.service.unfinished.put(link.ID, ids)
		}
		return nil
	}
	d.giveWay = nil
	var gone []metadata.ID
	stay := slices.Clone(open)
	for _, other := range open {
		if other.Expires > d.pausedBy() || slices.Contains(d.busy, other.ID) {
			continue
		}
		gone = append(gone, other.ID)
		stay = slices.DeleteFunc(stay, func(t metadata.ResumableUpload) bool { return t.ID == other.ID })
		if link.crowded(stay, t.Length) == nil {
			d.giveWay = gone
			break
		}
	}
	return refused
}

// unfinished returns the unfinished uploads of a link, the longest pause first.
func (d *drop) unfinished(tx *metadata.Tx, link metadata.ID) (open []metadata.ResumableUpload, err error) {
	ids := d.service.unfinished.get(link)
	if d.service.stores.Node.Shared() { // any node may have begun some
		if ids, err = rows.Collect(tx.Uploads.Ended(math.MaxInt64), math.MaxInt); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		t, err := tx.Uploads.Get(id)
		switch {
		case errors.Is(err, metadata.ErrNotFound), err == nil && (t.Done() || t.SenderID != link):
		case err != nil:
			return nil, err
		default:
			open = append(open, t)
		}
	}
	slices.SortFunc(open, func(a, b metadata.ResumableUpload) int { return cmp.Compare(a.Expires, b.Expires) })
	return open, nil
}

// pausedBy is when an upload expires that has paused for maxPause.
func (d *drop) pausedBy() metadata.Stamp {
	return d.service.now() + metadata.Stamp(max(0, d.service.config.UploadAge-maxPause)/time.Microsecond)
}

// crowded refuses another upload of so many bytes beside these.
func (v visited) crowded(open []metadata.ResumableUpload, length int64) error {
	var bytes int64
	for _, t := range open {
		bytes += t.Length
	}
	rule := ""
	switch {
	case v.MaxUses > 0 && int64(len(open)) >= int64(v.MaxUses)-int64(v.Use.Count):
		rule = "no more than the files that it still takes"
	case len(open) >= maxUnfinished:
		rule = fmt.Sprintf("no more than %d", maxUnfinished)
	case v.MaxBytes > 0 && length > v.MaxBytes-v.Use.Bytes-bytes:
		rule = "with no more bytes together than it still takes"
	default:
		return nil
	}
	return &errs.Error{Kind: errs.TooManyRequests, Code: errs.CodeTooManyRequests,
		Message: "a link has unfinished uploads, " + rule + "; try again when one is complete, or gives way because it has paused for an hour"}
}
