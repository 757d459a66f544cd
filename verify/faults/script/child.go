// Package script is a fixed series of about fifty operations on a repository, beginning with the
// creation of its stores. It covers each way in which a repository writes. A child process runs it,
// and reports the state after each operation. So the parent knows the expected state after a crash
// of the child or the machine.
package script

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"labshelf/auth/errs"
	"labshelf/metadata"
)

// Answers of the parent to a Report.
const (
	Next  = "next"  // continue with the next operation
	Again = "again" // repeat the operation
)

// Child runs the script in an existing directory. After each try of an operation, it writes a
// Report to out, as a line of JSON, and waits for the answer on in. Any other answer, or the end of
// in, makes it close the stores and return. After a failed try, it also reads bodies.
func Child(ctx context.Context, dir string, in io.Reader, out io.Writer) error {
	w := &stores{dir: dir, ids: map[string]string{}}
	answers := bufio.NewScanner(in)
	state := State{}
	for n, op := range operations() {
		answer := Again
		for answer == Again {
			now, report := w.try(ctx, n, op, state)
			state = now
			if err := json.NewEncoder(out).Encode(report); err != nil {
				return err
			}
			if !answers.Scan() {
				return w.close()
			}
			answer = answers.Text()
		}
		if answer != Next {
			return w.close()
		}
	}
	return nil
}

// try runs an operation and reports its result.
func (w *stores) try(ctx context.Context, n int, op operation, before State) (now State, r Report) {
	err := op.run(ctx, w)
	w.blockFlush()
	r = Report{Op: n, Code: codeOf(err)}
	if err != nil {
		r.Error = err.Error()
	}
	if w.svc == nil { // no store is open: no change
		return before, r
	}
	r.ReadOnly = w.svc.Monitor.Health().ReadOnly != nil
	now, err = Read(ctx, w.store)
	if err == nil && r.Code != "" {
		err = w.readBodies(ctx)
	}
	if err != nil {
		r.Unread = err.Error()
		return before, r
	}
	r.delta(before, now)
	left, err := w.leftovers()
	if err != nil {
		r.Unread = err.Error()
	}
	r.Temps = len(left)
	return now, r
}

// leftovers is like Leftovers, but waits for files of a flush in the background, which disappear
// soon.
func (w *stores) leftovers() (left []string, err error) {
	for range 100 {
		if left, err = Leftovers(w.dir); err != nil || len(left) == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return left, err
}

// readBodies reads up to 20 files that a client can read.
func (w *stores) readBodies(ctx context.Context) error {
	var ids []string
	err := w.store.View(ctx, func(tx *metadata.Tx) error {
		return each(tx.Resources.Range(metadata.ResourceRange{States: pagingActive, Order: pagingOldest}), func(r metadata.Resource) error {
			if len(ids) < 20 {
				ids = append(ids, r.ID.String())
			}
			return nil
		})
	})
	for _, id := range ids {
		if err == nil {
			err = w.readBody(ctx, id)
		}
	}
	return err
}

func (w *stores) readBody(ctx context.Context, id string) error {
	r, file, err := w.svc.Files.OpenResource(ctx, w.admin, id)
	if codeOf(err) == string(errs.CodeResourceGone) { // a cascade has not reached it yet
		return nil
	}
	if err != nil {
		return err
	}
	digest, err := digestOf(file)
	if err == nil && digest != r.Digest {
		err = fmt.Errorf("%s: the body has the digest %s, want %s", id, digest, r.Digest)
	}
	return errors.Join(err, file.Close())
}

// Leftovers returns the temporary files and the copies of the metadata in a data directory that is
// not in use.
func Leftovers(dir string) (left []string, err error) {
	entries, err := os.ReadDir(filepath.Join(dir, "tmp"))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		left = append(left, "tmp/"+e.Name())
	}
	if entries, err = os.ReadDir(dir); err != nil {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), MetaFile+".") {
			left = append(left, e.Name())
		}
	}
	return left, nil
}

// Recover opens the stores in a directory, as after a crash, waits until background work has ended,
// and closes the stores.
func Recover(ctx context.Context, dir string) error {
	w := &stores{dir: dir}
	if err := w.open(); err != nil {
		return err
	}
	return errors.Join(w.settle(ctx), w.close())
}
