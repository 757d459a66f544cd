package backup_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/backup"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	_ "labshelf/internal/testhome"
	"labshelf/metadata"
	"labshelf/repository/maintenance"
)

// killed makes this program the child of a kill test. Its value contains the action, the source and
// the target.
const killed = "BACKUP_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(killed) == "" {
		os.Exit(m.Run())
	}
	if err := beChild(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ended")
}

func beChild(what, from, to string) error {
	begun := false
	events := backup.Events{Progress: func(string, int64, int64) {
		if !begun {
			begun = true
			fmt.Println("begun")
		}
	}}
	if what == "restore" {
		_, err := backup.Restore(context.Background(), from, to, backup.RestoreOptions{Events: events})
		return err
	}
	source, err := openLocal(from)
	if err != nil {
		return err
	}
	_, err = backup.Create(context.Background(), source, to, backup.CreateOptions{Events: events})
	return errors.Join(err, source.Close())
}

// child runs a child process. It kills the process after this time of its work, unless after is
// negative. It returns the time that the child has worked, and whether the child has finished.
func child(t *testing.T, after time.Duration, args ...string) (worked time.Duration, ended bool) {
	t.Helper()
	self, err := os.Executable()
	check(t, err)
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), killed+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	lines := bufio.NewScanner(out)
	lines.Scan()
	begun := time.Now()
	if after >= 0 {
		time.Sleep(after)
		_ = cmd.Process.Kill() // it may already have ended
	}
	ended = lines.Scan()
	worked = time.Since(begun)
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	if !ended && after < 0 || lines.Err() != nil {
		t.Fatalf("the child failed: %v", lines.Err())
	}
	return worked, ended
}

// rounds returns the number of rounds of a kill test.
func rounds() int {
	if testing.Short() {
		return 8
	}
	return 20
}

// TestKilledBackup kills a process that creates a backup, at random times. A restoration always
// yields a complete backup: the previous one, or this one if the process was killed after its end.
// The test does not run in parallel, because a child holds the locks of all open files until its
// exec.
func TestKilledBackup(t *testing.T) {
	w, random := newWorld(t), rand.New(rand.NewPCG(1, 2))
	dest := t.TempDir()
	w.upload(bodies(random, 40)...)
	full, _ := child(t, -1, "create", w.dir, dest)
	before, _ := contents(t, w.dir)
	interrupted := 0
	for range rounds() {
		w.upload(bodies(random, 40)...)
		after, _ := contents(t, w.dir)
		if _, ended := child(t, time.Duration(random.Int64N(int64(full*3/2)+1)), "create", w.dir, dest); !ended {
			interrupted++
		}
		restored, _ := contents(t, mustRestore(t, dest))
		switch {
		case slices.Equal(restored, after):
			before = after
		case !slices.Equal(restored, before):
			t.Fatalf("%d resources were restored, want %d or %d", len(restored), len(before), len(after))
		}
	}
	t.Logf("%d of %d were interrupted", interrupted, rounds())
	if interrupted == 0 {
		t.Error("no backup was interrupted")
	}
	w.backUp(dest)
	wantSame(t, w.dir, mustRestore(t, dest))
	done, err := backup.Verify(t.Context(), dest, t.TempDir(), backup.RestoreOptions{})
	if check(t, err); done.Earlier == 0 || done.Earlier >= backup.DefaultKeep {
		t.Errorf("%d earlier snapshots are complete", done.Earlier)
	}
	left, err := os.ReadDir(filepath.Join(dest, "tmp"))
	check(t, err)
	if metaOf(t, dest); len(left) > 0 {
		t.Errorf("%s remains in tmp", left[0].Name())
	}
}

// endless simulates the file system of a process that is killed after a number of calls: later
// calls have no effect.
type endless struct {
	directory.FS
	left atomic.Int64
}

var errKilled = errors.New("killed")

func (e *endless) do(call func() error) error {
	if e.left.Add(-1) < 0 {
		return errKilled
	}
	return call()
}

func (e *endless) Create(path string) (file directory.File, err error) {
	err = e.do(func() error { file, err = e.FS.Create(path); return err })
	return &endlessFile{file, e}, err
}
func (e *endless) Mkdir(path string) error   { return e.do(func() error { return e.FS.Mkdir(path) }) }
func (e *endless) Remove(path string) error  { return e.do(func() error { return e.FS.Remove(path) }) }
func (e *endless) SyncDir(path string) error { return e.do(func() error { return e.FS.SyncDir(path) }) }
func (e *endless) Link(from, to string) error {
	return e.do(func() error { return e.FS.Link(from, to) })
}
func (e *endless) Rename(from, to string) error {
	return e.do(func() error { return e.FS.Rename(from, to) })
}

type endlessFile struct {
	directory.File
	fs *endless
}

// Write writes half of the data if the process is killed during the call.
func (f *endlessFile) Write(p []byte) (n int, err error) {
	if err := f.fs.do(func() error { n, err = f.File.Write(p); return err }); !errors.Is(err, errKilled) {
		return n, err
	}
	if f.fs.left.Load() == -1 {
		n, _ = f.File.Write(p[:len(p)/2])
	}
	return n, errKilled
}
func (f *endlessFile) Sync() error { return f.fs.do(f.File.Sync) }

// TestKilledAtEachStep ends a backup at each of its calls to the file system, in three cases: into
// an empty folder, into a folder with a snapshot to remove, and into a folder whose latest snapshot
// has the same state. All earlier snapshots stay complete, except an expired one, which may have
// been removed. The next backup continues.
func TestKilledAtEachStep(t *testing.T) {
	t.Parallel()
	fresh := newWorld(t)
	fresh.upload("one")
	full, same := t.TempDir(), t.TempDir()
	for i := range 3 {
		addUser(t, fresh.dir, fmt.Sprint("user", i))
		fresh.upload(fmt.Sprint("file", i))
		fresh.backUp(full)
	}
	fresh.backUp(same)
	changed := &world{t: t, dir: filepath.Join(t.TempDir(), "changed")}
	check(t, os.CopyFS(changed.dir, os.DirFS(fresh.dir)))
	addUser(t, changed.dir, "late")
	for name, tt := range map[string]struct {
		w    *world
		dest string
	}{"an empty folder": {fresh, ""}, "three snapshots": {changed, full}, "the same state": {fresh, same}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killAtEachStep(t, tt.w.dir, tt.dest)
		})
	}
}

// killAtEachStep keeps three snapshots. from is a copy of the folder before the backup, or "".
func killAtEachStep(t *testing.T, data, from string) {
	before := map[string][]string{}
	if from != "" {
		for _, name := range names(t, from) {
			before[name] = usersAt(t, from, name)
		}
	}
	for steps, ended := int64(0), false; !ended; steps++ {
		dest := filepath.Join(t.TempDir(), "backup")
		if from != "" {
			check(t, os.CopyFS(dest, os.DirFS(from)))
		}
		disk := &endless{FS: directory.OS{}}
		disk.left.Store(steps)
		source, err := openLocal(data)
		check(t, err)
		_, err = backup.CreateOn(t.Context(), source, dest, backup.CreateOptions{Keep: 3}, disk)
		check(t, source.Close())
		if ended = err == nil; !ended && !errors.Is(err, errKilled) {
			t.Fatalf("after %d calls: %v", steps, err)
		}
		wantSnapshots(t, dest, before, steps)
		if ended && steps < 15 {
			t.Errorf("a backup makes %d calls", steps)
		}
		source, err = openLocal(data)
		check(t, err)
		_, err = backup.Create(t.Context(), source, dest, backup.CreateOptions{Keep: 3})
		check(t, errors.Join(err, source.Close()))
		wantSame(t, data, mustRestore(t, dest))
		if _, err := backup.Verify(t.Context(), dest, t.TempDir(), backup.RestoreOptions{}); err != nil {
			t.Errorf("after %d calls, and another backup: %v", steps, err)
		}
	}
}

// wantSnapshots fails the test unless all earlier snapshots can be restored with the same users,
// except the oldest of three.
func wantSnapshots(t *testing.T, dest string, before map[string][]string, steps int64) {
	t.Helper()
	oldest := slices.Sorted(maps.Keys(before))
	for i, name := range oldest {
		dir, err := restoredAt(t, dest, name)
		if i == 0 && len(oldest) == 3 && errors.Is(err, backup.ErrNoSnapshot) {
			continue
		}
		if err != nil {
			t.Errorf("after %d calls: %v", steps, err)
			continue
		}
		if _, users := contents(t, dir); !slices.Equal(users, before[name]) {
			t.Errorf("after %d calls, %s contains the users %v, not %v", steps, name, users, before[name])
		}
	}
}

// TestKilledRestore kills a process that restores, at random times. The data directory is complete,
// or no service starts on it. The backup stays complete. Like TestKilledBackup, the test does not
// run in parallel.
func TestKilledRestore(t *testing.T) {
	w, random := newWorld(t), rand.New(rand.NewPCG(3, 4))
	dest, folder := t.TempDir(), t.TempDir()
	w.upload(bodies(random, 80)...)
	w.backUp(dest)
	full, _ := child(t, -1, "restore", dest, filepath.Join(folder, "full"))
	interrupted, without := 0, 0
	for i := range rounds() {
		dir := filepath.Join(folder, fmt.Sprint(i))
		if _, ended := child(t, time.Duration(random.Int64N(int64(full)+1)), "restore", dest, dir); !ended {
			interrupted++
		}
		if _, err := os.Stat(filepath.Join(dir, "meta.db")); err != nil {
			without++
			continue
		}
		wantSame(t, w.dir, dir)
		wantWhole(t, dir)
	}
	t.Logf("%d of %d were interrupted, %d have no metadata", interrupted, rounds(), without)
	if interrupted == 0 {
		t.Error("no restoration was interrupted")
	}
	wantSame(t, w.dir, mustRestore(t, dest))
}

// wantWhole fails the test unless a data directory is complete.
func wantWhole(t *testing.T, dir string) {
	t.Helper()
	files, err := directory.OpenReadOnly(dir)
	check(t, err)
	meta, err := bolt.Open(filepath.Join(dir, "meta.db"), bolt.Options{ReadOnly: true})
	check(t, err)
	_, err = maintenance.NewUpkeep(meta, files).Check(t.Context(), maintenance.CheckOptions{}, maintenance.CheckEvents{
		Violation: func(v metadata.Violation) { t.Error(v) },
	})
	check(t, errors.Join(err, meta.Close()))
}

// bodies returns n bodies of random lengths.
func bodies(random *rand.Rand, n int) (all []string) {
	for range n {
		body := make([]byte, 1+random.IntN(1<<15))
		for i := range body {
			body[i] = byte(random.Uint32())
		}
		all = append(all, string(body))
	}
	return all
}
