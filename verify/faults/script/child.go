// Package script is a fixed series of some fifty operations on a repository, from the first
// creation of its stores on, that covers each way in which it writes. A child process runs it, and
// reports the state after each operation; so the parent knows what must be there after a crash of
// the child or of the machine.
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

// The parent's answers to a Report.
const (
	Next  = "next"  // on with the following operation
	Again = "again" // the same one once more
)

// Child runs the script in a directory, which exists. It writes a Report to out after each try of
// an operation, as a line of JSON, and waits for the answer on in; another answer, or the end of
// in, makes it close the stores and return. After a try that has failed it also reads bodies.
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
	if w.svc == nil { // nothing is open: no change
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

// leftovers is Leftovers without the files of a flush that is under way in the background, which
// are gone soon.
func (w *stores) leftovers() (left []string, err error) {
	for range 100 {
		if left, err = Leftovers(w.dir); err != nil || len(left) == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return left, err
}

// readBodies reads every file that a client can read.
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
		err = fmt.Errorf("%s: its bytes are %s, not %s", id, digest, r.Digest)
	}
	return errors.Join(err, file.Close())
}

// Leftovers returns the temporary files in a data directory that is not in use, and copies of the
// metadata.
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

// Recover opens the stores in a directory as after a crash, waits until what was under way has
// ended, and closes them.
func Recover(ctx context.Context, dir string) error {
	w := &stores{dir: dir}
	if err := w.open(); err != nil {
		return err
	}
	return errors.Join(w.settle(ctx), w.close())
}
