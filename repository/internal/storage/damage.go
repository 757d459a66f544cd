package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/rows"
)

// DamagedError returns the error for a file that is known to be damaged or missing. The cause is
// for the log only.
func DamagedError(of string, cause error) error {
	return &errs.Error{Kind: errs.Internal, Code: errs.CodeDataDamaged, Message: "the file of this resource is missing or damaged on the server",
		Err: fmt.Errorf("%s: %w", of, cause)}
}

// Verify reads a blob to its end, and records it as damaged or as no longer damaged. wrong
// describes the damage. It is "" for an intact blob, a blob without a row, and a blob whose file an
// upload has replaced during the call. An error with an empty wrong means that the blob could not
// be read for a reason other than damage. An error with a wrong means that the damage could not be
// recorded; this process then remembers it.
func (s *Stores) Verify(ctx context.Context, b blobs.Blob) (wrong string, err error) {
	one := s.Verifications.begin(b.Digest)
	defer s.Verifications.end(one)
	if wrong, err = Verdict(b.Digest, blobs.Verify(ctx, s.Blobs, b)); err != nil {
		return "", err
	}
	known, err := s.Damage(ctx, b.Digest)
	if err == nil && (wrong == "") == (known == "") && s.Verifications.suspected(b.Digest) == "" {
		return wrong, nil
	}
	if err == nil {
		wrong, err = s.record(ctx, one, b, wrong)
	}
	switch {
	case err == nil:
		s.Verifications.Clear(b.Digest)
	case wrong != "":
		s.Verifications.suspect(b.Digest, wrong)
	}
	if wrong != "" && known == "" {
		s.Background.Note(background.TaskDamage, fmt.Errorf("%s: %s", b.Digest, wrong))
	}
	return wrong, err
}

// record stores the outcome of a verification and returns it. If the verified file has been
// replaced, record stores no damage and returns "".
func (s *Stores) record(ctx context.Context, one *verification, b blobs.Blob, wrong string) (upheld string, err error) {
	upheld = wrong // also if the transaction does not run
	err = s.Update(ctx, func(tx *metadata.Tx) error {
		upheld = wrong
		row, err := tx.Blobs.Get(one.digest)
		switch {
		case errors.Is(err, metadata.ErrNotFound):
			upheld = ""
			return tx.Damages.Remove(one.digest)
		case err != nil:
			return err
		case s.Objects != nil && row.Object != b.Object: // an upload, perhaps of another process, has named another object
			upheld = ""
			return nil
		case wrong == "":
			return tx.Damages.Remove(one.digest)
		case s.Verifications.stale(one):
			upheld = ""
			return nil
		}
		if _, err := tx.Damages.Get(one.digest); !errors.Is(err, metadata.ErrNotFound) {
			return err
		}
		return tx.Damages.Put(metadata.Damage{Digest: one.digest, Found: tx.Stamp(), What: wrong})
	})
	return upheld, err
}

// Verdict derives from a read error what is wrong with a blob, as text without paths. It returns
// the error as unknown if the error does not show the state of the blob.
func Verdict(digest blobs.Digest, err error) (wrong string, unknown error) {
	switch {
	case err == nil:
		return "", nil
	case errors.Is(err, blobs.ErrNotFound):
		return "its file is missing", nil
	case !errors.Is(err, blobs.ErrDamaged):
		return "", err
	}
	wrong = strings.Replace(err.Error(), fmt.Sprintf("%v: %s ", blobs.ErrDamaged, digest), "it ", 1)
	var at *fs.PathError
	if errors.As(err, &at) {
		wrong = strings.ReplaceAll(wrong, at.Path, "file")
	}
	return wrong, nil
}

// Damage returns the known damage of a blob, "" for none.
func (s *Stores) Damage(ctx context.Context, digest blobs.Digest) (wrong string, err error) {
	err = s.Meta.View(ctx, func(tx *metadata.Tx) error {
		wrong, err = s.DamageOf(tx, digest)
		return err
	})
	return wrong, err
}

// DamageOf is like Damage within a transaction. It requests another verification of a damaged blob
// in the background, so that a blob that can be read again does not stay refused.
func (s *Stores) DamageOf(tx *metadata.Tx, digest blobs.Digest) (wrong string, err error) {
	if wrong = s.Verifications.suspected(digest); wrong != "" {
		s.Verifications.request(digest)
		return wrong, nil
	}
	d, err := tx.Damages.Get(digest)
	switch {
	case errors.Is(err, metadata.ErrNotFound):
		return "", nil
	case err != nil:
		return "", err
	}
	s.Verifications.request(digest)
	return d.What, nil
}

// SetDamaged sets r.Damaged from the known damage of the file. Call it before a client sees r.
func (s *Stores) SetDamaged(tx *metadata.Tx, r *metadata.Resource) {
	r.Damaged = s.Damaged(tx)(r)
}

// Damaged returns a function for this transaction that reports whether the file of a resource is
// known to be damaged. If no damage is known, the usual case, the function reads nothing. A row
// that cannot be read counts as damage.
func (s *Stores) Damaged(tx *metadata.Tx) (damaged func(*metadata.Resource) bool) {
	suspects := s.Verifications.suspects()
	first, err := rows.Collect(tx.Damages.All(blobs.Digest{}), 1)
	none := err == nil && len(first) == 0 && len(suspects) == 0
	return func(r *metadata.Resource) bool {
		if none || r.Body != metadata.InBlob {
			return false
		}
		if suspects[r.Digest] {
			return true
		}
		_, err := tx.Damages.Get(r.Digest)
		return !errors.Is(err, metadata.ErrNotFound)
	}
}

// maxDamaged limits the count of damaged blobs, because any client may request it at any time.
const maxDamaged = 1000

// CountDamaged returns the number of blobs known to be damaged, at most maxDamaged.
func (s *Stores) CountDamaged(tx *metadata.Tx) (n int64, err error) {
	suspects := s.Verifications.suspects()
	for d, err := range tx.Damages.All(blobs.Digest{}) {
		if err != nil {
			return 0, err
		}
		delete(suspects, d.Digest)
		if n++; n == maxDamaged {
			break
		}
	}
	return min(n+int64(len(suspects)), maxDamaged), nil
}

// Verifications is the state of all verifications. It holds the verifications in progress, so that
// damage found by one does not count for a file committed in the meantime. It holds damage that
// could not be recorded, and the damaged blobs that clients request, which are to be verified
// again. It is safe for concurrent use.
type Verifications struct {
	mu        sync.Mutex
	running   map[*verification]bool
	damaged   map[blobs.Digest]string
	requested map[blobs.Digest]bool
	wake      func() // called when requested gets its first digest; nil without a verifier
}

// verification is a verification of one blob in progress.
type verification struct {
	digest   blobs.Digest
	replaced bool
}

func newVerifications() Verifications {
	return Verifications{running: map[*verification]bool{}, damaged: map[blobs.Digest]string{}, requested: map[blobs.Digest]bool{}}
}

// begin registers a verification. Call it before the file is read.
func (v *Verifications) begin(digest blobs.Digest) *verification {
	v.mu.Lock()
	defer v.mu.Unlock()
	one := &verification{digest: digest}
	v.running[one] = true
	return one
}

func (v *Verifications) end(one *verification) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.running, one)
}

// Committed must be called after a file has been committed, and before the transaction that records
// it. A verification of an older file then either sees the replacement, or ends before that
// transaction, which removes its outcome.
func (v *Verifications) Committed(digest blobs.Digest) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for one := range v.running {
		one.replaced = one.replaced || one.digest == digest
	}
	delete(v.damaged, digest)
}

// maxRequested limits the damaged blobs that wait for verification. A later request for the same
// blob adds it again.
const maxRequested = 64

// request records that a client has requested a blob that counts as damaged.
func (v *Verifications) request(digest blobs.Digest) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.wake == nil || len(v.requested) == maxRequested {
		return
	}
	if v.requested[digest] = true; len(v.requested) == 1 {
		v.wake()
	}
}

// OnRequest sets the function that is called when a damaged blob is requested and no other one
// waits. It must return soon and must not call v.
func (v *Verifications) OnRequest(wake func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.wake = wake
}

// Requested returns the damaged blobs that clients have requested since the last call.
func (v *Verifications) Requested() []blobs.Digest {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := slices.Collect(maps.Keys(v.requested))
	clear(v.requested)
	return all
}

func (v *Verifications) stale(one *verification) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return one.replaced
}

func (v *Verifications) suspect(digest blobs.Digest, wrong string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.damaged[digest] = wrong
}

// Clear forgets damage that could not be recorded.
func (v *Verifications) Clear(digest blobs.Digest) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.damaged, digest)
}

func (v *Verifications) suspected(digest blobs.Digest) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.damaged[digest]
}

func (v *Verifications) suspects() map[blobs.Digest]bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := make(map[blobs.Digest]bool, len(v.damaged))
	for digest := range v.damaged {
		all[digest] = true
	}
	return all
}
