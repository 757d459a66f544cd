package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"labshelf/blobs"
	"labshelf/errs"
	"labshelf/metadata"
)

// NoteDamage is called when the file of a resource, as OpenResource gave it, could not be read to its end or had other content
// than its digest says. It reads the file once more, from the disk, and only if that says the same the blob is marked damaged:
// reading it is refused from then on, and the next upload of the same content brings it back. It returns when that is done,
// also when ctx ends before.
func (s *Service) NoteDamage(ctx context.Context, digest blobs.Digest, cause error) {
	ctx = context.WithoutCancel(ctx)
	var size int64
	err := s.meta.View(ctx, func(tx *metadata.Tx) (err error) {
		size, err = tx.Blobs.Size(digest)
		return err
	})
	if err == nil {
		_, err = s.judge(ctx, metadata.Blob{Digest: digest, Bytes: size})
	}
	if err != nil && !errors.Is(err, metadata.ErrNotFound) {
		s.troubles.note(taskDamage, fmt.Errorf("%s: %w; and it could not be looked at again: %w", digest, cause, err))
	}
}

// dataDamaged is the answer to who wants a file that is known to be damaged or missing.
func dataDamaged(of string, cause error) error {
	return &errs.Error{Kind: errs.Internal, Code: errs.CodeDataDamaged, Message: "the file of this resource is missing or damaged on the server",
		Err: fmt.Errorf("%s: %w", of, cause)}
}

// judge reads a blob to its end and writes down what it finds: it marks the blob damaged, or takes the mark away. wrong tells
// what is wrong with it, "" for nothing: that is also the answer where nothing vouches for the blob any more, or an upload
// replaced its file meanwhile. An error tells why it could not be read for another reason than damage or, when wrong is not
// empty, why that could not be written down; then this process remembers it.
func (s *stores) judge(ctx context.Context, b metadata.Blob) (wrong string, err error) {
	j := s.opinions.begin(b.Digest)
	defer s.opinions.end(j)
	if wrong, err = verdict(b.Digest, blobs.Verify(ctx, s.blobs, b.Digest, b.Bytes)); err != nil {
		return "", err
	}
	known, err := s.knownDamage(ctx, b.Digest)
	if err == nil && (wrong == "") == (known == "") && s.opinions.suspected(b.Digest) == "" {
		return wrong, nil
	}
	if err == nil {
		wrong, err = s.mark(ctx, j, wrong)
	}
	switch {
	case err == nil:
		s.opinions.clear(b.Digest)
	case wrong != "":
		s.opinions.suspect(b.Digest, wrong)
	}
	if wrong != "" && known == "" {
		s.troubles.note(taskDamage, fmt.Errorf("%s: %s", b.Digest, wrong))
	}
	return wrong, err
}

// mark writes down a judgement, unless it is about a file that is not there any more; then it returns "".
func (s *stores) mark(ctx context.Context, j *opinion, wrong string) (upheld string, err error) {
	upheld = wrong // also where the transaction does not get to run
	err = s.write(ctx, func(tx *metadata.Tx) error {
		upheld = wrong
		_, err := tx.Blobs.Size(j.digest)
		switch {
		case errors.Is(err, metadata.ErrNotFound):
			upheld = ""
			return tx.Damages.Remove(j.digest)
		case err != nil:
			return err
		case wrong == "":
			return tx.Damages.Remove(j.digest)
		case s.opinions.stale(j):
			upheld = ""
			return nil
		}
		if _, err := tx.Damages.Get(j.digest); !errors.Is(err, metadata.ErrNotFound) {
			return err
		}
		return tx.Damages.Put(metadata.Damage{Digest: j.digest, Found: tx.Stamp(), What: wrong})
	})
	return upheld, err
}

// verdict tells what is wrong with a blob, in words without paths, by the error of looking at it; or returns the error where that
// says nothing about the blob.
func verdict(digest blobs.Digest, err error) (wrong string, unknown error) {
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

// knownDamage tells what is known to be wrong with a blob, "" for nothing.
func (s *stores) knownDamage(ctx context.Context, digest blobs.Digest) (wrong string, err error) {
	err = s.meta.View(ctx, func(tx *metadata.Tx) error {
		wrong, err = s.damageOf(tx, digest)
		return err
	})
	return wrong, err
}

// damageOf is knownDamage within a transaction.
func (s *stores) damageOf(tx *metadata.Tx, digest blobs.Digest) (wrong string, err error) {
	if wrong = s.opinions.suspected(digest); wrong != "" {
		return wrong, nil
	}
	d, err := tx.Damages.Get(digest)
	switch {
	case errors.Is(err, metadata.ErrNotFound):
		return "", nil
	case err != nil:
		return "", err
	}
	return d.What, nil
}

// noteDamaged sets what is known of the file of a resource that a caller is about to see.
func (s *stores) noteDamaged(tx *metadata.Tx, r *metadata.Resource) {
	r.Damaged = s.knownDamages(tx)(r)
}

// knownDamages returns the function that tells, in the transaction, whether the file of a resource is known to be damaged. Mostly nothing
// is, and then it looks nothing up. A row that cannot be read is one.
func (s *stores) knownDamages(tx *metadata.Tx) (damaged func(*metadata.Resource) bool) {
	suspects := s.opinions.suspects()
	first, err := collect(tx.Damages.All(), 1)
	none := err == nil && len(first) == 0 && len(suspects) == 0
	return func(r *metadata.Resource) bool {
		if none || r.Body != metadata.Filed {
			return false
		}
		if suspects[r.Digest] {
			return true
		}
		_, err := tx.Damages.Get(r.Digest)
		return !errors.Is(err, metadata.ErrNotFound)
	}
}

// countDamaged counts the blobs known to be damaged, up to MaxDamaged.
func (s *stores) countDamaged(tx *metadata.Tx) (n int64, err error) {
	suspects := s.opinions.suspects()
	for d, err := range tx.Damages.All() {
		if err != nil {
			return 0, err
		}
		delete(suspects, d.Digest)
		if n++; n == MaxDamaged {
			break
		}
	}
	return min(n+int64(len(suspects)), MaxDamaged), nil
}

// opinions keeps who is looking at a blob, so that what he finds is not held against a file that came later, and what was found
// and could not be written down.
type opinions struct {
	mu      sync.Mutex
	running map[*opinion]bool
	found   map[blobs.Digest]string
}

// opinion is one look at a blob.
type opinion struct {
	digest   blobs.Digest
	replaced bool
}

func newOpinions() opinions {
	return opinions{running: map[*opinion]bool{}, found: map[blobs.Digest]string{}}
}

// begin is called before a file is looked at.
func (o *opinions) begin(digest blobs.Digest) *opinion {
	o.mu.Lock()
	defer o.mu.Unlock()
	j := &opinion{digest: digest}
	o.running[j] = true
	return j
}

func (o *opinions) end(j *opinion) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.running, j)
}

// placed is called after a file has been put in its place, and before the transaction that vouches for it: then a judgement of
// an older file either finds out or comes before that transaction, which takes its mark away.
func (o *opinions) placed(digest blobs.Digest) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for j := range o.running {
		j.replaced = j.replaced || j.digest == digest
	}
	delete(o.found, digest)
}

func (o *opinions) stale(j *opinion) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return j.replaced
}

func (o *opinions) suspect(digest blobs.Digest, wrong string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.found[digest] = wrong
}

func (o *opinions) clear(digest blobs.Digest) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.found, digest)
}

func (o *opinions) suspected(digest blobs.Digest) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.found[digest]
}

func (o *opinions) suspects() map[blobs.Digest]bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := make(map[blobs.Digest]bool, len(o.found))
	for digest := range o.found {
		all[digest] = true
	}
	return all
}
