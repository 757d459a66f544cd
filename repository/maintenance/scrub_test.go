package maintenance_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/maintenance"
)

// period is the duration of a pass in these tests.
const period = 24 * time.Hour

// scrubbed runs a service that scrubs for some time, over the stores of k.
func scrubbed(k *kept, files blobs.Folder, config repository.Config, during time.Duration) maintenance.ConditionDetail {
	config.ScrubPeriod = period
	svc := repository.New(k.Meta, files, config)
	time.Sleep(during)
	synctest.Wait()
	detail := svc.Monitor.Condition(k.T.Context()).Detail
	svc.Close()
	return detail
}

// TestScrubFindsDamage: a scrub reports damage within one period, and removes the record of damage
// that no longer exists.
func TestScrubFindsDamage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, repository.Config{}, 20)
		files := k.Resources
		k.Flip(files[3].Digest)
		k.OK(os.Remove(k.Path(files[7].Digest)))
		var mu sync.Mutex
		var notes []string
		note := func(task string, err error) {
			mu.Lock()
			defer mu.Unlock()
			notes = append(notes, fmt.Sprint(task, ": ", err))
		}
		got := scrubbed(k, k.Blobs, repository.Config{Note: note}, period+time.Hour)
		if got.Damaged != 2 || got.Scrub.Passes != 1 || len(k.Damages()) != 2 {
			t.Errorf("after one period: %+v, records %+v", got, k.Damages())
		}
		if len(notes) != 2 || !strings.Contains(notes[0]+notes[1], files[3].Digest.String()) || strings.Contains(notes[0]+notes[1], k.Dir) {
			t.Errorf("noted %q", notes)
		}
		k.Flip(files[3].Digest) // repair the file
		k.OK(os.WriteFile(k.Path(files[7].Digest), []byte("file 0 7"), 0o600))
		got = scrubbed(k, k.Blobs, repository.Config{Note: note}, period+time.Hour)
		if got.Damaged != 0 || got.Scrub.Passes != 2 || len(notes) != 2 {
			t.Errorf("after the second: %+v, notes %q", got, notes)
		}
	})
}

// reads is a store that records the times at which each blob is opened.
type reads struct {
	blobs.Folder
	mu sync.Mutex
	at map[blobs.Digest][]time.Time
}

func (r *reads) Open(ctx context.Context, b blobs.Blob) (io.ReadSeekCloser, error) {
	r.mu.Lock()
	r.at[b.Digest] = append(r.at[b.Digest], time.Now())
	r.mu.Unlock()
	return r.Folder.Open(ctx, b)
}

// TestScrubRate: for any number of blobs, each blob is read once in each period, spread over the
// period, also across restarts.
func TestScrubRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		blobs, runs int
		each        time.Duration // duration of each run
	}{
		{0, 1, 3 * period}, {1, 1, 3 * period}, {2, 3, period}, {100, 1, 3 * period}, {100, 36, period / 12}, {7, 72, period / 24},
	} {
		t.Run(fmt.Sprint(c.blobs, " blobs, ", c.runs, " runs"), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				k := newKept(t, repository.Config{}, c.blobs)
				r := &reads{Folder: k.Blobs, at: map[blobs.Digest][]time.Time{}}
				var last maintenance.ConditionDetail
				for range c.runs {
					// wait until the result is saved
					last = scrubbed(k, r, repository.Config{}, c.each+2*time.Minute/time.Duration(c.runs))
				}
				// Each run may lose the minute of sleep during which it ends.
				slack := time.Duration(c.runs+1) * time.Minute
				if passes := last.Scrub.Passes; passes != 3 && !(passes == 2 && c.runs > 1) {
					t.Errorf("%d passes in three periods", passes)
				}
				if c.blobs != len(r.at) {
					t.Errorf("%d of %d blobs were read", len(r.at), c.blobs)
				}
				perHour := map[int64]int{}
				for _, at := range r.at {
					for i := range at {
						perHour[at[i].Unix()/3600]++
						if i > 0 && (at[i].Sub(at[i-1])-period).Abs() > slack {
							t.Errorf("read again after %v", at[i].Sub(at[i-1]))
						}
					}
				}
				for _, n := range perHour {
					if n > 5+c.blobs/10 {
						t.Errorf("%d of %d blobs were read in one hour", n, c.blobs)
					}
				}
			})
		})
	}
}

// TestScrubSavesRarely: a scrub saves its position at most once a minute, and when the service
// ends.
func TestScrubSavesRarely(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, repository.Config{}, 200)
		counted := &commits{Store: k.Meta}
		svc := repository.New(counted, k.Blobs, repository.Config{ScrubPeriod: 10 * time.Minute})
		time.Sleep(10*time.Minute + time.Second)
		synctest.Wait()
		if counted.n.Load() > 11 || counted.n.Load() < 5 {
			t.Errorf("%d commits in ten minutes", counted.n.Load())
		}
		before := counted.n.Load()
		svc.Close()
		if counted.n.Load() != before+1 {
			t.Errorf("%d commits at the end", counted.n.Load()-before)
		}
		svc = repository.New(counted, k.Blobs, repository.Config{ScrubPeriod: period})
		svc.Close()
		if counted.n.Load() != before+1 {
			t.Error("starting and stopping the service changed something")
		}
		svc = repository.New(counted, k.Blobs, repository.Config{})
		time.Sleep(2 * period)
		svc.Close()
		if counted.n.Load() != before+1 {
			t.Error("something was written without a period")
		}
	})
}

// commits counts the commits.
type commits struct {
	metadata.Store
	n        atomic.Int64
	readOnly atomic.Bool
}

func (c *commits) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	if c.readOnly.Load() {
		return fmt.Errorf("%w: after an I/O error", metadata.ErrReadOnly)
	}
	c.n.Add(1)
	return c.Store.Update(ctx, fn)
}

func (c *commits) UpdateBackground(ctx context.Context, fn func(*metadata.Tx) error) error {
	return c.Update(ctx, fn)
}

// TestScrubContinuesReadOnly: after an I/O error, a scrub continues. It keeps its findings in
// memory, because they cannot be stored.
func TestScrubContinuesReadOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, repository.Config{}, 10)
		r := k.Resources[4]
		k.Flip(r.Digest)
		broken := &commits{Store: k.Meta}
		broken.readOnly.Store(true)
		svc := repository.New(broken, k.Blobs, repository.Config{ScrubPeriod: period})
		defer svc.Close()
		time.Sleep(2*period + time.Hour)
		synctest.Wait()
		if got := svc.Monitor.Condition(t.Context()).Detail; got.Damaged != 1 || got.Scrub.Passes != 0 || len(got.Background) != 0 {
			t.Errorf("%+v", got)
		}
		_, _, err := svc.Files.OpenResource(t.Context(), k.Admin, r.ID.String())
		k.Refused(err, errs.CodeDataDamaged)
		if got, err := k.Content(r.ID); err != nil || got == "file 0 4" {
			t.Errorf("another service, which does not know the finding, reads %q, %v", got, err)
		}
		broken.readOnly.Store(false)
		time.Sleep(period)
		synctest.Wait()
		if marks := k.Damages(); len(marks) != 1 || marks[0].Digest != r.Digest {
			t.Errorf("after it could be stored: %+v", marks)
		}
	})
}

// TestScrubReportsReadErrors: a scrub reports an error once, continues, and reports when
// the error has ended.
func TestScrubReportsReadErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, repository.Config{}, 10)
		files := &noDescriptors{Folder: k.Blobs, until: time.Now().Add(period / 2)}
		var mu sync.Mutex
		var notes []error
		got := scrubbed(k, files, repository.Config{Note: func(_ string, err error) {
			mu.Lock()
			defer mu.Unlock()
			notes = append(notes, err)
		}}, period+time.Hour)
		if len(notes) != 2 || !errors.Is(notes[0], blobs.ErrUnavailable) || notes[1] != nil {
			t.Errorf("noted %v", notes)
		}
		if got.Damaged != 0 || got.Scrub.Passes != 1 || len(got.Background) != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// noDescriptors is a store that fails to open blobs for some time.
type noDescriptors struct {
	blobs.Folder
	until time.Time
}

func (n *noDescriptors) Open(ctx context.Context, b blobs.Blob) (io.ReadSeekCloser, error) {
	if time.Now().Before(n.until) {
		return nil, fmt.Errorf("too many open files: %w", blobs.ErrUnavailable)
	}
	return n.Folder.Open(ctx, b)
}

// TestCloseInterruptsScrubbedBlob: Close waits for at most one buffer of a blob, and the next run
// reads that blob again.
func TestCloseInterruptsScrubbedBlob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, repository.Config{}, 0)
		k.Replace(k.Upload(k.Sets[0], "short"), strings.Repeat("long ", 1<<20))
		svc := repository.New(k.Meta, &slowly{k.Blobs}, repository.Config{ScrubPeriod: time.Minute})
		time.Sleep(2 * time.Minute)
		begun := time.Now()
		svc.Close()
		if took := time.Since(begun); took > time.Minute {
			t.Errorf("Close took %v", took)
		}
		k.OK(k.Meta.View(t.Context(), func(tx *metadata.Tx) error {
			state, err := tx.Scrub.Get()
			if state.Checked != 0 {
				t.Errorf("counted a blob that was not read completely: %+v", state)
			}
			return err
		}))
	})
}

// slowly is a store in which each read takes a minute.
type slowly struct{ blobs.Folder }

type slowFile struct{ io.ReadSeekCloser }

func (s *slowly) Open(ctx context.Context, b blobs.Blob) (io.ReadSeekCloser, error) {
	f, err := s.Folder.Open(ctx, b)
	return slowFile{f}, err
}

func (f slowFile) Read(p []byte) (int, error) {
	time.Sleep(time.Minute)
	return f.ReadSeekCloser.Read(p)
}

// TestObserverIsCalledPerScrub: the observer is called for each file that is read in the
// background, with its size and whether it is complete.
func TestObserverIsCalledPerScrub(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, repository.Config{}, 5)
		k.Flip(k.Resources[3].Digest)
		var mu sync.Mutex
		var bytes, blobs, damaged int64
		watch := repository.Observer{Scrubbed: func(size int64, wrong bool) {
			mu.Lock()
			defer mu.Unlock()
			bytes, blobs = bytes+size, blobs+1
			if wrong {
				damaged++
			}
		}}
		got := scrubbed(k, k.Blobs, repository.Config{Observer: watch}, period-time.Second).Scrub
		if blobs != 5 || bytes != 40 || damaged != 1 || got.Checked != blobs || got.Found != damaged {
			t.Errorf("reported %d blobs of %d bytes, %d damaged; the scrub counted %+v", blobs, bytes, damaged, got)
		}
	})
}
