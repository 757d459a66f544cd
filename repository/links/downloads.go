package links

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"labshelf/metadata"
)

// Bounds of the remembered downloads.
const (
	maxBegun      = 10_000
	downloadPause = metadata.Stamp(24 * time.Hour / time.Microsecond) // then a part is another use
	downloadLease = "download/"                                       // prefix of lease names
)

// downloads remembers which addresses have begun to fetch which files through a link, so that
// requests for parts do not count as further uses. It is bounded and forgets everything when the
// service ends; a part then counts again.
type downloads struct {
	mu    sync.Mutex
	since map[[sha256.Size]byte]metadata.Stamp
}

// downloadKey identifies a version of a file, fetched through a link from an address.
func downloadKey(v Visitor, r metadata.Resource) [sha256.Size]byte {
	return sha256.Sum256([]byte(v.Token + "\x00" + v.Address.String() + "\x00" + string(r.ID[:]) + string(r.Digest[:])))
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

// beginDownload records a download for all nodes, if there are others, in the commit that counts
// it.
func (s *Visitors) beginDownload(tx *metadata.Tx, key [sha256.Size]byte) error {
	if !s.core.Stores.Node.Shared() {
		return nil
	}
	return tx.Leases.Put(metadata.Lease{Name: downloadLease + hex.EncodeToString(key[:]), Ends: tx.Now() + downloadPause})
}

// begunDownload reports whether a download began less than downloadPause ago.
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
