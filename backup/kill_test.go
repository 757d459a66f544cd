package backup_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"labshelf/backup"
	"labshelf/blobs"
	"labshelf/bolt"
	"labshelf/repository"
)

// killed makes of this program the child of a kill test: what it does, from where, to where.
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
	source, err := backup.OpenLocal(from)
	if err != nil {
		return err
	}
	_, err = backup.Create(context.Background(), source, to, backup.CreateOptions{Events: events})
	return errors.Join(err, source.Close())
}

// child runs one in a process of its own, and kills it after a time within its work, unless that is negative. It returns how long
// it worked, and whether it came to its end.
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
		_ = cmd.Process.Kill() // it may have ended
	}
	ended = lines.Scan()
	worked = time.Since(begun)
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // as it was killed
	if !ended && after < 0 || lines.Err() != nil {
		t.Fatalf("the child failed: %v", lines.Err())
	}
	return worked, ended
}

// rounds of a kill test.
func rounds() int {
	if testing.Short() {
		return 8
	}
	return 20
}

// TestKilledBackup kills a process that makes a backup at random moments. What is restored is always a whole backup: the one
// before, or this one if it was killed after its end. Not beside other tests: a process that is being started has the locks of all
// open files for a moment.
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
			t.Fatalf("%d resources were restored; there were %d before and %d after", len(restored), len(before), len(after))
		}
	}
	t.Logf("%d of %d were interrupted", interrupted, rounds())
	if interrupted == 0 {
		t.Error("none was interrupted")
	}
	w.backUp(dest)
	wantSame(t, w.dir, mustRestore(t, dest))
	left, err := os.ReadDir(filepath.Join(dest, "tmp"))
	check(t, err)
	if metaOf(t, dest); len(left) > 0 {
		t.Errorf("%s is left in tmp", left[0].Name())
	}
}

// TestKilledRestore kills a process that restores at random moments. There is a whole data directory, or none that a service starts
// on; the backup stays whole. Not beside other tests, either.
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
		t.Error("none was interrupted")
	}
	wantSame(t, w.dir, mustRestore(t, dest))
}

// wantWhole checks a data directory.
func wantWhole(t *testing.T, dir string) {
	t.Helper()
	files, err := blobs.OpenDirReadOnly(dir)
	check(t, err)
	meta, err := bolt.Open(filepath.Join(dir, "meta.db"), bolt.Options{ReadOnly: true})
	check(t, err)
	_, err = repository.NewUpkeep(meta, files).Check(t.Context(), repository.CheckOptions{}, repository.CheckEvents{
		Violation: func(v repository.Violation) { t.Error(v) },
	})
	check(t, errors.Join(err, meta.Close()))
}

// bodies are files of random lengths.
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
