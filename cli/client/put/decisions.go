package put

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"labshelf/cli/client/reference"
	"labshelf/cli/client/report"
	"labshelf/cli/client/resumption"
	"labshelf/cli/client/sent"
	"labshelf/cli/meter"
	"labshelf/client"
)

// mostSends bounds the attempts to send a file whose upload breaks off or gets no response.
const mostSends = 5

// pollDelays are the pauses before the client looks for the result of an upload without a response.
// The service may still be storing it.
var pollDelays = [...]time.Duration{300 * time.Millisecond, 700 * time.Millisecond}

// job is one run of put.
type job struct {
	client   *client.Client
	set      client.Set
	readable bool               // the set can be listed; otherwise the key may only add files
	fields   client.NewResource // common to all files
	parallel int
	dry      bool // change nothing
	existing existingFiles
	sent     sent.List // if the set is not readable
	uploads  resumption.Uploads
	meter    *meter.Meter
	report   *report.Report

	mu      sync.Mutex
	created map[string]created // by name

	reported atomic.Int64 // finished files
}

// fatal is an error that would affect every other file, too.
type fatal struct{ error }

func (e fatal) Unwrap() error { return e.error }

// run uploads the files. It returns the reason for an early end: the context or a fatal error.
// Files that are being sent then are completed. All other errors are reported.
func (u *job) run(ctx context.Context, files []localFile) error {
	group, going := errgroup.WithContext(ctx)
	group.SetLimit(u.parallel)
	for i := 0; i < len(files) && going.Err() == nil; i++ {
		group.Go(func() error {
			if going.Err() != nil {
				return nil
			}
			return u.one(ctx, files[i])
		})
	}
	over := group.Wait()
	return cmp.Or(ctx.Err(), over)
}

// one uploads a file and reports its outcome. Its error is fatal.
func (u *job) one(ctx context.Context, f localFile) error {
	became, err := u.put(ctx, f)
	if err != nil && ctx.Err() != nil {
		return nil
	}
	if err != nil {
		became = report.Result{Path: f.path, Name: f.name, Outcome: report.Failed, Why: err}
	}
	u.report.Tell(became)
	u.reported.Add(1)
	u.meter.Finished(1)
	var end fatal
	if errors.As(err, &end) {
		return end
	}
	return nil
}

// put compares one file with the set, and sends it if necessary.
func (u *job) put(ctx context.Context, f localFile) (report.Result, error) {
	s, err := openSource(ctx, cmp.Or(f.copy, f.path), u.meter)
	if err != nil {
		u.meter.Skipped(f.size)
		return report.Result{}, err
	}
	s.copied = s.copied || f.copy != ""
	defer func() {
		s.close()
		u.meter.Skipped(f.size - s.moved.Load())
	}()
	held := u.existing.of[f.name]
	if i := slices.IndexFunc(held, func(h existing) bool { return h.id == f.id }); i >= 0 {
		held = held[i : i+1]
	}
	for _, h := range held {
		if h.bytes != s.size {
			continue
		}
		digest, err := s.sum(ctx)
		if err != nil {
			return report.Result{}, err
		}
		switch {
		case h.digest != digest:
		case h.damaged: // sending the same bytes repairs the file
			held = []existing{h}
		default:
			return report.Result{Path: f.path, Name: f.name, Outcome: report.Present, ID: h.id, Bytes: h.bytes, Digest: h.digest}, nil
		}
	}
	if !u.readable {
		held = nil // a changed file becomes another resource
	}
	switch {
	case len(held) > 1:
		return report.Result{}, fmt.Errorf("the set has %d resources of this name, with other bytes; delete or rename all but one, or put the file under another name", len(held))
	case u.dry && len(held) == 1:
		return report.Result{Path: f.path, Name: f.name, Outcome: report.Replaced, Bytes: s.size}, nil
	case u.dry:
		return report.Result{Path: f.path, Name: f.name, Outcome: report.Sent, Bytes: s.size}, nil
	case len(held) == 1:
		return u.replace(ctx, f, s, held[0])
	}
	return u.create(ctx, f, s)
}

// storedAs returns the result for a resource.
func storedAs(o report.Outcome, f localFile, r client.Resource) report.Result {
	return report.Result{Path: f.path, Name: f.name, Outcome: o, ID: r.ID, Bytes: r.Bytes, Digest: r.SHA256}
}

// create creates a resource from a file. Before it repeats an upload without a response, it looks
// for the resource, so that it creates no second one.
func (u *job) create(ctx context.Context, f localFile, s *source) (report.Result, error) {
	fields := u.fields
	fields.SetID, fields.Name, fields.Filename = u.set.ID, f.name, f.filename
	for sends := 1; ; sends++ {
		fields.Digest = s.digest
		r, err := u.send(ctx, s, fields, "")
		if err == nil {
			return storedAs(report.Sent, f, r), u.noteCreated(f, r)
		}
		if sure := finalError(ctx, s, err); sure != nil {
			return report.Result{}, sure
		}
		r, found, lookErr := u.findCreated(ctx, f, s)
		switch {
		case lookErr != nil:
			return report.Result{}, lookErr
		case found:
			return storedAs(report.Sent, f, r), nil
		case sends+s.again >= mostSends:
			return report.Result{}, fmt.Errorf("%w; it is not stored", err)
		}
	}
}

// findCreated looks for the resource of an upload that got no response.
func (u *job) findCreated(ctx context.Context, f localFile, s *source) (r client.Resource, found bool, err error) {
	digest, err := s.sum(ctx)
	if err != nil || !u.readable {
		return r, false, err
	}
	for _, pause := range pollDelays {
		if err := sleep(ctx, pause); err != nil {
			return r, false, err
		}
		for r, err := range u.client.Sets.Resources(ctx, u.set.ID, client.ListOptions{Name: f.name, Limit: reference.PageSize}) {
			if err != nil {
				return r, false, fatal{err}
			}
			if r.SHA256 == digest {
				return r, true, nil
			}
		}
	}
	return r, false, nil
}

// replace replaces the file of a resource, unless its bytes, name or state have changed since the
// set was listed. Before it repeats a replacement without a response, it reads the resource.
func (u *job) replace(ctx context.Context, f localFile, s *source, was existing) (report.Result, error) {
	var last error
	for sends := 0; ; sends++ {
		now, err := u.client.Resources.Get(ctx, was.id)
		if err != nil {
			return report.Result{}, fatalIfShared(err)
		}
		done, err := isStored(ctx, s, now, last)
		switch {
		case err != nil:
			return report.Result{}, err
		case done:
			return storedAs(report.Replaced, f, now), nil
		case now.SHA256 != was.digest || now.Name != was.name || now.State != client.Active:
			return report.Result{}, fmt.Errorf("conflict: the resource %s has changed since the set was listed; check its current content, and run the same command again", now.ID)
		case sends+s.again >= mostSends:
			return report.Result{}, last
		}
		fields := u.fields
		fields.Name, fields.Filename, fields.Digest = was.name, f.filename, s.digest
		// A replacement without these fields would reset them to the defaults.
		fields.Description, fields.Format = cmp.Or(fields.Description, now.Description), cmp.Or(fields.Format, now.Format)
		r, err := u.send(ctx, s, fields, was.id, client.IfMatch(now.ETag))
		if err == nil {
			return storedAs(report.Replaced, f, r), nil
		}
		var problem *client.Problem
		if sure := finalError(ctx, s, err); sure != nil && !(errors.As(err, &problem) && problem.Status == 412) {
			return report.Result{}, sure
		}
		last = err
	}
}

// isStored reports, after a replacement that ended with the error last, whether a resource has the
// bytes of a file. If not, it pauses before the next attempt.
func isStored(ctx context.Context, s *source, r client.Resource, last error) (bool, error) {
	if last == nil {
		return false, nil
	}
	digest, err := s.sum(ctx)
	if err != nil || r.SHA256 == digest && r.State == client.Active && !r.Damaged {
		return err == nil, err
	}
	return false, sleep(ctx, pollDelays[0])
}

// finalError returns the error of a call after which the file is certainly not stored. It returns
// nil if the file may be stored, or may be stored by another attempt.
func finalError(ctx context.Context, s *source, err error) error {
	var problem *client.Problem
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case s.failure() != nil:
		return s.failure()
	case errors.Is(err, client.ErrAnotherFile):
		return fmt.Errorf("%w; the same command replaces it", err)
	case !errors.As(err, &problem), problem.Status == 408, problem.Status == 500, problem.Code == "" && problem.Status > 500:
		return nil
	}
	return fatalIfShared(err)
}

// fatalIfShared makes an error fatal if it would affect other files, too: errors of the key, the
// role, the set, or a service that stores nothing.
func fatalIfShared(err error) error {
	var problem *client.Problem
	if !errors.As(err, &problem) {
		return fatal{err}
	}
	switch problem.Status {
	case 400, 408, 409, 410, 412, 413, 500:
		if problem.Code != "parent_deleted" {
			return err
		}
	}
	return fatal{err}
}

// sleep waits for d, or for the end of the context.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
