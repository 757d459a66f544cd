package maintenance_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
	"labshelf/repository/resumable"
)

// gatedObjects is the object store as one actor uses it. Each call is a step.
type gatedObjects struct {
	blobstest.ObjectStore
	gate *gate
}

func (f gatedObjects) Stage(ctx context.Context, r io.Reader, limit int64) (blobs.Staged, error) {
	f.gate.step()
	staged, err := f.ObjectStore.Stage(ctx, r, limit)
	return gatedStaged{staged, f.gate}, err
}

func (f gatedObjects) AppendPartial(ctx context.Context, p blobs.Partial, r io.Reader, most int64) (blobs.Checkpoint, error) {
	f.gate.step()
	return f.ObjectStore.AppendPartial(ctx, p, r, most)
}

func (f gatedObjects) StagePartial(ctx context.Context, p blobs.Partial) (blobs.Staged, error) {
	f.gate.step()
	staged, err := f.ObjectStore.StagePartial(ctx, p)
	return gatedStaged{staged, f.gate}, err
}

func (f gatedObjects) WalkObjects(ctx context.Context, fn func(blobs.Object) error) error {
	return f.ObjectStore.WalkObjects(ctx, func(o blobs.Object) error {
		f.gate.step()
		return fn(o)
	})
}

func (f gatedObjects) DeleteObject(ctx context.Context, o blobs.Object) error {
	f.gate.step()
	return f.ObjectStore.DeleteObject(ctx, o)
}

// shared is the state that two processes share: the metadata, the objects, and a clock.
type shared struct {
	*repositorytest.World
	meta  *metadatatest.Memory
	files *blobstest.MemoryObjects
}

func newShared(t *testing.T) *shared {
	meta := metadatatest.NewMemory(time.Now)
	s := &shared{meta: meta, files: blobstest.NewObjects(metadata.ClockOf(meta, time.Now))}
	s.World = repositorytest.NewWorld(t, repositorytest.NewStill(meta, s.files, repository.Config{PageSize: 1000}), 0)
	return s
}

// actor is a process that performs one operation and can be stopped before each of its steps. made
// is the resource that it acknowledges.
type actor func(s *shared, meta metadata.Store, store blobs.Store, content string) (made metadata.ID, err error)

// actors are the operations that may run concurrently with a purge.
var actors = map[string]actor{
	"upload": func(s *shared, meta metadata.Store, store blobs.Store, content string) (metadata.ID, error) {
		up, set := repositorytest.NewStill(meta, store, repository.Config{}).Uploads.NewUpload(s.Admin), s.Sets[0].ID.String()
		err := up.Receive(s.T.Context(), strings.NewReader(content))
		var made metadata.Resource
		if err == nil {
			made, err = up.Create(s.T.Context(), files.UploadFields{SetID: &set, Filename: "file"})
		}
		return made.ID, errors.Join(err, up.Discard())
	},
	"chunks": func(s *shared, meta metadata.Store, store blobs.Store, content string) (metadata.ID, error) {
		svc := repositorytest.NewStill(meta, store, repository.Config{})
		set := s.Sets[0].ID.String()
		t, err := svc.Uploads.Create(s.T.Context(), s.Admin, files.UploadStart{Fields: files.UploadFields{SetID: &set, Filename: "file"}, Length: int64(len(content))})
		for err == nil && !t.Done() {
			end := min(int(t.Checkpoint.Size)+4, len(content))
			t, err = svc.Uploads.Chunks.Append(s.T.Context(), s.Admin, t.ID.String(), resumable.Chunk{
				Offset: t.Checkpoint.Size, Length: int64(end) - t.Checkpoint.Size, Body: strings.NewReader(content[t.Checkpoint.Size:end]), Stop: func() {},
			})
		}
		return t.Made, err
	},
	"purge": func(s *shared, meta metadata.Store, store blobs.Store, _ string) (none metadata.ID, err error) {
		_, err = maintenance.NewUpkeep(meta, store).Purge(s.T.Context(), maintenance.PurgeOptions{})
		return none, err
	},
}

// states prepare the content before the processes start.
var states = map[string]func(s *shared, content string){
	"new":      func(*shared, string) {},
	"there":    func(s *shared, content string) { s.Upload(s.Sets[0], content) },
	"deleted":  func(s *shared, content string) { s.Delete(s.Upload(s.Sets[0], content)) },
	"replaced": func(s *shared, content string) { s.Replace(s.Upload(s.Sets[0], content), content+", replaced") },
	"orphan": func(s *shared, content string) {
		_, err := s.files.Stage(s.T.Context(), strings.NewReader(content), 0)
		s.OK(err)
		time.Sleep(25 * time.Hour)
	},
	"trashed": func(s *shared, content string) {
		s.Delete(s.Upload(s.Sets[0], content))
		time.Sleep(time.Second)
		_, err := actors["purge"](s, s.meta, s.files, "")
		s.OK(err)
	},
}

// TestObjectsAgainstPurge stops two processes at each pair of their steps, lets time pass, and lets
// either continue first. Named objects must exist, acknowledged files must be readable, and unnamed
// objects must be removed in the end.
func TestObjectsAgainstPurge(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"upload", "purge"}, {"chunks", "purge"}, {"upload", "upload"}, {"upload", "chunks"}, {"purge", "purge"}} {
		for state, prepare := range states {
			t.Run(fmt.Sprint(pair[0], " against ", pair[1], ", ", state), func(t *testing.T) {
				t.Parallel()
				meetAll(t, pair, prepare)
			})
		}
	}
}

func meetAll(t *testing.T, pair [2]string, prepare func(*shared, string)) {
	all := &meetings{pair: pair, prepare: prepare, steps: [2]int{2, 2}}
	for i := 1; i <= all.steps[0]; i++ {
		// The test uses a separate clock, because the clock of a bubble ends in the year 2262.
		synctest.Test(t, func(t *testing.T) { all.at(t, i) })
	}
	t.Logf("%d meetings of %d and %d steps", all.held, all.steps[0], all.steps[1])
}

// meetings are all pairs of steps of two processes.
type meetings struct {
	pair         [2]string
	prepare      func(*shared, string)
	steps        [2]int // number of steps of each, as far as known
	number, held int
}

// at runs the meetings at one step of the first process.
func (m *meetings) at(t *testing.T, i int) {
	for j := 1; j <= m.steps[1]; j++ {
		for _, pause := range pauses {
			for first := range 2 {
				if m.number++; m.number%oneOf() != 1%oneOf() {
					continue
				}
				s := newShared(t)
				m.prepare(s, content)
				time.Sleep(time.Second)
				a, b := s.meet(m.pair, [2]int{i, j}, pause, first)
				m.steps = [2]int{min(max(m.steps[0], a), mostSteps), min(max(m.steps[1], b), mostSteps)}
				m.held++
			}
		}
	}
}

// mostSteps is the number of steps of a process that are tried. An operation takes at most 60
// steps. A process with a running expirer takes hundreds while the other one is stopped for a day:
// two for each run of the expirer.
const mostSteps = 64

// content is the content of all uploads.
const content = "the content"

// pauses are the times for which two processes are stopped, the first one for twice the time. Some
// are within the limits of the rules, others exceed them.
var pauses = []time.Duration{0, 25 * time.Minute, 3 * time.Hour, 25 * time.Hour}

// oneOf returns the number of meetings for each one that is run, or 1 if PURGE_RACE_SECONDS is set.
// It is prime, so that no step, pause or order is left out.
func oneOf() int {
	switch {
	case os.Getenv("PURGE_RACE_SECONDS") != "":
		return 1
	case testing.Short():
		return 37
	}
	return 11
}

// meet lets two processes run up to a step each, or as far as they get. It returns the number of
// steps that they took in the end.
func (s *shared) meet(pair [2]string, stops [2]int, pause time.Duration, first int) (int, int) {
	var gates [2]*gate
	var made [2]metadata.ID
	var failed [2]error
	var running sync.WaitGroup
	for i, name := range pair {
		g := &gate{stop: stops[i], open: make(chan struct{})}
		gates[i] = g
		g.armed = true
		running.Go(func() { made[i], failed[i] = actors[name](s, gatedMeta{s.meta, g}, gatedObjects{s.files, g}, content) })
		synctest.Wait()
		time.Sleep(pause)
	}
	for _, i := range []int{first, 1 - first} {
		close(gates[i].open)
		synctest.Wait()
	}
	running.Wait()
	what := fmt.Sprintf("%v at their steps %v, %v apart, %d first", pair, stops, pause, first)
	if found := repositorytest.Violations(s.T, s.meta, s.files); len(found) > 0 {
		s.T.Fatalf("%s: %q", what, found)
	}
	for i := range pair {
		s.wantKept(what, made[i], failed[i], pause)
	}
	s.clear()
	return int(gates[0].steps.Load()), int(gates[1].steps.Load())
}

// wantKept fails the test unless an acknowledged file is readable. Only a process that was stopped
// for a long time may be refused, with an error that allows another try.
func (s *shared) wantKept(what string, made metadata.ID, failed error, pause time.Duration) {
	s.T.Helper()
	var known *errs.Error
	if failed != nil && (pause < time.Hour || !errors.As(failed, &known) || known.Kind != errs.Unavailable && known.Kind != errs.Locked) {
		s.T.Fatalf("%s: %v", what, failed)
	}
	if failed != nil || made == (metadata.ID{}) {
		return
	}
	if got, err := s.Content(made); err != nil || got != content {
		s.T.Fatalf("%s: reading returns %q, %v", what, got, err)
	}
}

// clear deletes everything, and checks that no object remains.
func (s *shared) clear() {
	s.T.Helper()
	for id, state := range s.Listed() {
		if state == metadata.Active {
			s.Delete(s.Get(id))
		}
	}
	var begun []metadata.ID
	s.OK(s.meta.View(s.T.Context(), func(tx *metadata.Tx) error {
		for id, err := range tx.Uploads.Ended(math.MaxInt64) {
			s.OK(err)
			begun = append(begun, id)
		}
		return nil
	}))
	for _, id := range begun {
		s.OK(s.Service.Uploads.Chunks.Terminate(s.T.Context(), s.Admin, id.String()))
	}
	for range 2 { // the second purge empties the trash of the first
		time.Sleep(25 * time.Hour)
		_, err := actors["purge"](s, s.meta, s.files, "")
		s.OK(err)
	}
	s.OK(s.files.WalkObjects(s.T.Context(), func(o blobs.Object) error {
		s.T.Fatalf("an unreferenced object remains: %+v", o)
		return nil
	}))
}
