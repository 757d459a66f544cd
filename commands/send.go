package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"labshelf/client"
)

// mostSends is how often a file is sent, at most, whose upload breaks off or is not answered.
const mostSends = 5

// looks are the pauses before the service is asked whether an upload is there that it did not answer. It may still be storing it.
var looks = [...]time.Duration{300 * time.Millisecond, 700 * time.Millisecond}

// putting is one run of put.
type putting struct {
	client   *client.Client
	set      client.Set
	fields   client.NewResource // what all files have in common
	parallel int
	dry      bool // nothing is done
	held     holdings
	begun    begun
	meter    *Meter
	report   *report

	mu   sync.Mutex
	made map[string]made // by name: what was made in this run

	next atomic.Int64 // file to begin with
	told atomic.Int64 // files of which something became
	over atomic.Pointer[ending]
}

// ending is an error that every other file would meet, too.
type ending struct{ error }

func (e ending) Unwrap() error { return e.error }

// run puts the files, and returns what ended it early: the context, or an ending. Everything else it reports.
func (u *putting) run(ctx context.Context, files []local) error {
	var workers sync.WaitGroup
	for range min(u.parallel, len(files)) {
		workers.Go(func() { u.work(ctx, files) })
	}
	workers.Wait()
	if over := u.over.Load(); over != nil && ctx.Err() == nil {
		return *over
	}
	return ctx.Err()
}

func (u *putting) work(ctx context.Context, files []local) {
	for ctx.Err() == nil && u.over.Load() == nil {
		i := int(u.next.Add(1)) - 1
		if i >= len(files) {
			return
		}
		one, err := u.put(ctx, files[i])
		var end ending
		switch {
		case ctx.Err() != nil && err != nil:
			return
		case errors.As(err, &end):
			u.over.CompareAndSwap(nil, &end)
			one = result{local: files[i], outcome: failed, why: err}
		case err != nil:
			one = result{local: files[i], outcome: failed, why: err}
		}
		u.report.tell(one)
		u.told.Add(1)
		u.meter.finished(1)
	}
}

// put does what is to be done about one file.
func (u *putting) put(ctx context.Context, f local) (result, error) {
	s, err := openSource(cmp.Or(f.copy, f.path), u.meter)
	if err != nil {
		u.meter.skipped(f.size)
		return result{}, err
	}
	defer func() {
		s.close()
		u.meter.skipped(f.size - s.moved.Load())
	}()
	held := u.held.of[f.name]
	if i := slices.IndexFunc(held, func(h holding) bool { return h.id == f.id }); i >= 0 {
		held = held[i : i+1]
	}
	for _, h := range held {
		if h.bytes != s.size {
			continue
		}
		digest, err := s.sum(ctx)
		if err != nil {
			return result{}, err
		}
		switch {
		case h.digest != digest:
		case h.damaged: // sent again, the same bytes heal it
			held = []holding{h}
		default:
			return result{local: f, outcome: there, id: h.id, bytes: h.bytes, digest: h.digest}, nil
		}
	}
	switch {
	case len(held) > 1:
		return result{}, fmt.Errorf("the set has %d resources of this name, with other bytes; delete or rename all but one, or put it under another name", len(held))
	case u.dry && len(held) == 1:
		return result{local: f, outcome: replaced, bytes: s.size}, nil
	case u.dry:
		return result{local: f, outcome: sent, bytes: s.size}, nil
	case len(held) == 1:
		return u.replace(ctx, f, s, held[0])
	}
	return u.create(ctx, f, s)
}

// became is a result of what was stored.
func became(o outcome, f local, r client.Resource) result {
	return result{local: f, outcome: o, id: r.ID, bytes: r.Bytes, digest: r.SHA256}
}

// create makes a resource of a file. After an upload that was not answered it looks before it sends again, lest there be two.
func (u *putting) create(ctx context.Context, f local, s *source) (result, error) {
	fields := u.fields
	fields.SetID, fields.Name, fields.Filename = u.set.ID, f.name, f.filename
	for sends := 1; ; sends++ {
		fields.Digest = s.digest
		r, err := u.send(ctx, s, fields, "")
		if err == nil {
			u.keep(r)
			return became(sent, f, r), nil
		}
		if sure := verdict(ctx, s, err); sure != nil {
			return result{}, sure
		}
		r, found, lookErr := u.look(ctx, f, s)
		switch {
		case lookErr != nil:
			return result{}, lookErr
		case found:
			return became(sent, f, r), nil
		case sends+s.again >= mostSends:
			return result{}, fmt.Errorf("%w; it is not stored", err)
		}
	}
}

// look finds the resource that an upload has made which was not answered.
func (u *putting) look(ctx context.Context, f local, s *source) (r client.Resource, found bool, err error) {
	digest, err := s.sum(ctx)
	if err != nil {
		return r, false, err
	}
	for _, pause := range looks {
		if err := sleep(ctx, pause); err != nil {
			return r, false, err
		}
		for r, err := range u.client.SetResources(ctx, u.set.ID, client.ListOptions{Name: f.name, Limit: wholePage}) {
			if err != nil {
				return r, false, ending{err}
			}
			if r.SHA256 == digest {
				return r, true, nil
			}
		}
	}
	return r, false, nil
}

// replace gives a resource the bytes of a file, unless somebody has changed its bytes, name or state since the set was listed. After
// a replacement that was not answered it looks before it sends again.
func (u *putting) replace(ctx context.Context, f local, s *source, was holding) (result, error) {
	var last error
	for sends := 0; ; sends++ {
		now, err := u.client.Resource(ctx, was.id)
		if err != nil {
			return result{}, ended(err)
		}
		done, err := stored(ctx, s, now, last)
		switch {
		case err != nil:
			return result{}, err
		case done:
			return became(replaced, f, now), nil
		case now.SHA256 != was.digest || now.Name != f.name || now.State != client.Active:
			return result{}, fmt.Errorf("conflict: somebody has changed the resource %s since the set was listed; see what is there now, and run the same command again", now.ID)
		case sends+s.again >= mostSends:
			return result{}, last
		}
		fields := u.fields
		fields.Name, fields.Filename, fields.Digest = f.name, f.filename, s.digest
		// What a replacement leaves out would take its default.
		fields.Description, fields.Format = cmp.Or(fields.Description, now.Description), cmp.Or(fields.Format, now.Format)
		r, err := u.send(ctx, s, fields, was.id, client.IfMatch(now.ETag))
		if err == nil {
			return became(replaced, f, r), nil
		}
		var problem *client.Problem
		if sure := verdict(ctx, s, err); sure != nil && !(errors.As(err, &problem) && problem.Status == 412) {
			return result{}, sure
		}
		last = err
	}
}

// stored tells whether a resource has the bytes of a file, which counts after a replacement that ended with the error last. Else it
// waits a moment, before there is another.
func stored(ctx context.Context, s *source, r client.Resource, last error) (bool, error) {
	if last == nil {
		return false, nil
	}
	digest, err := s.sum(ctx)
	if err != nil || r.SHA256 == digest && r.State == client.Active && !r.Damaged {
		return err == nil, err
	}
	return false, sleep(ctx, looks[0])
}

// verdict is the error of a call that has certainly not stored the file, as it is to be told. nil: it may have stored it, or would
// do so another time.
func verdict(ctx context.Context, s *source, err error) error {
	var problem *client.Problem
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case s.failure() != nil:
		return s.failure()
	case !errors.As(err, &problem), problem.Status == 408, problem.Status == 500, problem.Code == "" && problem.Status > 500:
		return nil
	}
	return ended(err)
}

// ended makes an ending of what other files would meet, too: the key or the role is gone, the set, or the service stores nothing.
func ended(err error) error {
	var problem *client.Problem
	if !errors.As(err, &problem) {
		return ending{err}
	}
	switch problem.Status {
	case 400, 408, 409, 410, 412, 413, 500:
		if problem.Code != "parent_deleted" {
			return err
		}
	}
	return ending{err}
}

// sleep waits, and ends early with the context.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
