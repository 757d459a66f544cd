package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/minio/minio-go/v7"

	"labshelf/blobs"
)

// Examine tests all operations of a store on the S3 at an address, with separate objects that it
// deletes. It calls report for each check, with its error and duration. It stops at the first
// failed check and returns its error.
func Examine(ctx context.Context, address string, o Options, report func(check string, err error, took time.Duration)) error {
	o.Clock = func(context.Context) (time.Time, error) { return time.Now(), nil }
	s, err := connect(address, o, idleLimit)
	if err != nil {
		return err
	}
	defer s.Close()
	e := &examination{store: s}
	for _, check := range []struct {
		name string
		try  func(context.Context) error
	}{
		{"bucket", s.reach}, {"put", e.put}, {"refuse a wrong checksum", e.refuse}, {"put a stream", e.stream}, {"head", e.head},
		{"range", e.ranges}, {"list", e.list}, {"multipart", e.multipart}, {"delete", e.remove},
	} {
		begun := time.Now()
		if err = check.try(ctx); err != nil {
			err = fmt.Errorf("%s: %w", check.name, err)
		}
		report(check.name, err, time.Since(begun))
		if err != nil {
			break
		}
	}
	for _, made := range e.made {
		err = errors.Join(err, made.remove())
	}
	return err
}

// examination contains the objects of the earlier checks.
type examination struct {
	store *Store
	body  []byte
	made  []*staged
}

// stage uploads a new body.
func (e *examination) stage(ctx context.Context, r io.Reader) error {
	made, err := e.store.Stage(ctx, r, 0)
	if err == nil {
		e.made = append(e.made, made.(*staged))
	}
	return err
}

func (e *examination) put(ctx context.Context) error {
	name, _, err := e.store.name(ctx)
	if err != nil {
		return err
	}
	e.body = bytes.Repeat([]byte(name), 100)
	return e.stage(ctx, bytes.NewReader(e.body))
}

func (e *examination) refuse(ctx context.Context) error {
	one := &staged{store: e.store}
	var err error
	one.content.Object, _, err = e.store.putNew(ctx, e.body, sha256.Sum256(e.body[1:]))
	if err != nil {
		var answer minio.ErrorResponse
		if errors.As(err, &answer) && answer.StatusCode < 500 {
			return nil
		}
		return err
	}
	e.made = append(e.made, one)
	return errors.New("it accepted a body with a wrong checksum")
}

// stream puts the smallest body that is not kept in memory.
func (e *examination) stream(ctx context.Context) error {
	const size = stagePart + 1
	return e.stage(ctx, blobs.WithLength(io.LimitReader(repeated(e.body), size), size))
}

// repeated is a reader that repeats a text without end.
type repeated []byte

func (r repeated) Read(p []byte) (int, error) { return copy(p, r), nil }

func (e *examination) head(ctx context.Context) error {
	for _, made := range e.made {
		if _, err := made.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (e *examination) ranges(ctx context.Context) error {
	const from = 1000
	_, body, err := e.store.get(ctx, e.made[0].content.Blob, "", from, from+10)
	if err != nil {
		return err
	}
	got, err := io.ReadAll(body)
	if err = errors.Join(err, body.Close()); err != nil {
		return err
	}
	if !bytes.Equal(got, e.body[from:from+10]) {
		return errors.New("it returned different bytes than were put")
	}
	return nil
}

func (e *examination) list(ctx context.Context) error {
	missing := map[string]bool{}
	for _, made := range e.made {
		missing[made.content.Object] = true
	}
	err := e.store.WalkObjects(ctx, func(o blobs.Object) error {
		delete(missing, o.Name)
		return nil
	})
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("%d of %d objects are not in the list", len(missing), len(e.made))
	}
	return err
}

func (e *examination) multipart(ctx context.Context) error {
	if err := e.stage(ctx, io.LimitReader(repeated(e.body), stagePart+1)); err != nil {
		return err
	}
	return e.head(ctx)
}

func (e *examination) remove(ctx context.Context) error {
	for len(e.made) > 0 {
		one := e.made[0]
		if err := one.remove(); err != nil {
			return err
		}
		if _, err := e.store.Stat(ctx, one.content.Blob); !errors.Is(err, blobs.ErrNotFound) {
			return fmt.Errorf("%s still exists after its deletion: %w", one.content.Object, err)
		}
		e.made = e.made[1:]
	}
	return nil
}
