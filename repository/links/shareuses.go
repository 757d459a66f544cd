package links

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"labshelf/metadata"
)

// Bounds of what is remembered of downloads.
const (
	maxBegun      = 10_000
	downloadPause = metadata.Stamp(24 * time.Hour / time.Microsecond) // after which a part of a file is another use
	downloadLease = "download/"                                       // begins the names of the leases of those of all nodes
)

// downloads remembers who has begun to fetch which file through a link, so that a part of it is no
// other use. It is bounded, and forgets all when the service ends: then a part counts once more.
type downloads struct {
	mu    sync.Mutex
	since map[[sha256.Size]byte]metadata.Stamp
}

// downloadKey is of one version of a file, fetched through one link by one address.
func downloadKey(v Visitor, r metadata.Resource) [sha256.Size]byte {
	return sha256.Sum256([]byte(v.Token + "\x00" + v.Address + "\x00" + string(r.ID[:]) + string(r.Digest[:])))
}

func (d *downloads) begin(key [sha256.Size]byte, now metadata.Stamp) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.since == nil || len(d.since) >= maxBegun {
		d.since = map[[sha256.Size]byte]metadata.Stamp{}
	}
	d.since[key] = now
}

func (d *downloads) begun(key [sha256.Size]byte, now metadata.Stamp) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	since, known := d.since[key]
	return known && now-since < downloadPause
}

// beginDownload lets all nodes know of a download, if there are others, in the commit that counts
// it.
func (s *Visitors) beginDownload(tx *metadata.Tx, key [sha256.Size]byte) error {
	if !s.core.Stores.Node.Shared() {
		return nil
	}
	return tx.Leases.Put(metadata.Lease{Name: downloadLease + hex.EncodeToString(key[:]), Ends: tx.Now() + downloadPause})
}

// begunDownload tells whether a download was begun less than downloadPause ago.
func (s *Visitors) begunDownload(tx *metadata.Tx, key [sha256.Size]byte) (bool, error) {
	now := s.core.Now()
	if !s.core.Stores.Node.Shared() {
		return s.downloads.begun(key, now), nil
	}
	row, err := tx.Leases.Get(downloadLease + hex.EncodeToString(key[:]))
	if errors.Is(err, metadata.ErrNotFound) {
		return false, nil
	}
	return err == nil && now < row.Ends, err
}
