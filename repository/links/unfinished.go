package links

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

const (
	// maxUnfinished is the maximum number of unfinished uploads of a link: 16 people can send
	// through its page, which sends 4 files at a time. Beginning an upload reads the rows of the
	// others.
	maxUnfinished = 64
	// maxPause is the maximum pause of an upload through a link. Expired uploads are removed every
	// ten minutes, so an upload is gone within an hour.
	maxPause = 50 * time.Minute
)

// unfinished holds the ids of the unfinished uploads of each link, and of some that have ended,
// because rows have no index by sender. It is safe for concurrent use; the zero value is empty.
type unfinished struct {
	mu sync.Mutex
	of map[metadata.ID][]metadata.ID
}

func (u *unfinished) get(link metadata.ID) []metadata.ID {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.of[link]
}

// add adds an upload that began before a restart.
func (u *unfinished) add(link, upload metadata.ID) { u.put(link, append(u.get(link), upload)) }

// put sets the ids of a link. The caller must not change the slice afterwards.
func (u *unfinished) put(link metadata.ID, ids []metadata.ID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.of == nil {
		u.of = map[metadata.ID][]metadata.ID{}
	}
	u.of[link] = ids
}

// bound returns an error if the link has too many unfinished uploads for another one. In the
// transaction that creates its row, the upload has an id and is registered, so that the next writer
// counts it.
func (d *fileRequest) bound(tx *metadata.Tx, link foundLink, t *metadata.ResumableUpload) error {
	unfinished, err := d.service.links.unfinishedUploads(tx)
	if err != nil {
		return err
	}
	open, err := unfinished(link.ID)
	if err != nil {
		return err
	}
	if refused := link.crowded(open, t.Length); refused != nil {
		return refused
	}
	if t.ID != (metadata.ID{}) && !d.service.core.Stores.Node.Shared() {
		ids := []metadata.ID{t.ID}
		for _, other := range open {
			ids = append(ids, other.ID)
		}
		d.service.links.unfinished.put(link.ID, ids)
	}
	return nil
}

// unfinishedUploads returns a function that returns the unfinished uploads of a link, without
// expired ones that are about to be removed.
func (s *Links) unfinishedUploads(tx *metadata.Tx) (of func(link metadata.ID) ([]metadata.ResumableUpload, error), err error) {
	ids := s.unfinished.get
	if s.core.Stores.Node.Shared() { // any node may have begun uploads
		all, err := rows.Collect(tx.Uploads.Ended(math.MaxInt64), math.MaxInt)
		if err != nil {
			return nil, err
		}
		ids = func(metadata.ID) []metadata.ID { return all }
	}
	return func(link metadata.ID) (open []metadata.ResumableUpload, err error) {
		for _, id := range ids(link) {
			t, err := tx.Uploads.Get(id)
			switch {
			case errors.Is(err, metadata.ErrNotFound), err == nil && (t.Done() || t.SenderID != link || t.Expires <= s.core.Now()):
			case err != nil:
				return nil, err
			default:
				open = append(open, t)
			}
		}
		return open, nil
	}, nil
}

// crowded returns an error if the link cannot accept another upload of this length in addition to
// the open ones.
func (v foundLink) crowded(open []metadata.ResumableUpload, length int64) error {
	var bytes int64
	for _, t := range open {
		bytes += t.Length
	}
	rule := ""
	switch {
	case v.MaxUses > 0 && int64(len(open)) >= int64(v.MaxUses)-int64(v.Use.Count):
		rule = "as many unfinished uploads as it still accepts files"
	case len(open) >= maxUnfinished:
		rule = fmt.Sprintf("%d unfinished uploads, the maximum", maxUnfinished)
	case v.MaxBytes > 0 && length > v.MaxBytes-v.Use.Bytes-bytes:
		rule = "unfinished uploads whose total size leaves no space for this file"
	default:
		return nil
	}
	return &errs.Error{Kind: errs.TooManyRequests, Code: errs.CodeTooManyRequests,
		Message: "this link has " + rule + "; try again when one is complete, or ends after 50 minutes without data"}
}
