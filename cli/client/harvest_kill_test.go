package client

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/cli/client/command"
	"labshelf/cli/client/mirror"
	"labshelf/cli/process"
	"labshelf/client"
)

var errKilled = errors.New("killed")

// harvestUntil runs a harvest that ends at its n-th change on the disk, as if it had been killed.
// It reports whether the harvest got that far.
func (s *service) harvestUntil(t *testing.T, n int64, ref, dir string, fromStart bool) (killed bool) {
	t.Helper()
	var problems bytes.Buffer
	var changes atomic.Int64
	c := client.New(s.base(), s.key)
	defer c.Close()
	o := mirror.Options{
		AcceptDeletions: true,
		Output:          command.Process{Process: process.Process{Out: &problems, Err: &problems}}.Output(false),
		FromStart:       fromStart,
		Parallel:        3,
		Before: func() error {
			if changes.Add(1) >= n {
				return errKilled
			}
			return nil
		},
	}
	err := mirror.Run(t.Context(), c, o, ref, dir)
	if err != nil && !errors.Is(err, errKilled) {
		t.Fatalf("%v\n%s", err, &problems)
	}
	return err != nil
}

// TestHarvestKilledAtEachChange: two runs end at any change on the disk. The next run then makes
// the mirror correct.
func TestHarvestKilledAtEachChange(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	first := []client.Resource{}
	for _, name := range []string{"x", "y", "same", "same", "d/e/f", "gone", "edited", "replaced", "again", "again"} {
		first = append(first, s.put(t, set.ID, name, "the first "+name))
	}
	if err := s.client.Resources.Delete(t.Context(), first[8].ID); err != nil {
		t.Fatal(err)
	}
	template := filepath.Join(t.TempDir(), "template")
	s.harvests(t, "all", template)
	rename := func(i int, name string) {
		must[client.Resource](t)(s.client.Resources.Edit(t.Context(), first[i].ID, client.ResourceEdit{Name: &name}))
	}
	rename(0, "y") // it takes the name of the next resource
	rename(1, "x")
	rename(4, "d")
	must[client.Resource](t)(s.client.Resources.Restore(t.Context(), first[8].ID)) // the restored resource gets its name back
	if err := errors.Join(s.client.Resources.Delete(t.Context(), first[2].ID), s.client.Resources.Delete(t.Context(), first[5].ID)); err != nil {
		t.Fatal(err)
	}
	text := "told"
	must[client.Resource](t)(s.client.Resources.Edit(t.Context(), first[6].ID, client.ResourceEdit{Description: &text}))
	must[client.Resource](t)(s.client.Resources.Replace(t.Context(), first[7].ID, client.NewResource{Name: "replaced"}, strings.NewReader("other"), 5))
	s.put(t, set.ID, "new/one", "new")
	s.put(t, set.ID, "y", "a third one")
	want := s.everything(t, s.client, client.ListOptions{})
	folder := func(client.Resource) string { return "lab/runs/" }
	random := rand.New(rand.NewPCG(1, 2))
	ref := s.base() + "/resources?limit=3"
	for what, from := range map[string]struct {
		fill      func(dir string) error
		fromStart bool
	}{
		"the first run":        {func(string) error { return nil }, false},
		"a later run":          {func(dir string) error { return os.CopyFS(dir, os.DirFS(template)) }, false},
		"a run from the start": {func(dir string) error { return os.CopyFS(dir, os.DirFS(template)) }, true},
	} {
		called := ref
		if what != "the first run" {
			called = "all"
		}
		n, step := int64(1), int64(1)
		switch {
		case testing.Short():
			step = 7
		case what != "a later run":
			step = 4
		}
		for ; ; n += step {
			dir := filepath.Join(t.TempDir(), "mirror")
			if err := from.fill(dir); err != nil {
				t.Fatal(err)
			}
			killed := s.harvestUntil(t, n, called, dir, from.fromStart)
			if killed && n%2 == 0 {
				s.harvestUntil(t, 1+random.Int64N(n), called, dir, false)
			}
			s.harvests(t, called, dir)
			if equals(t, dir, want, folder); t.Failed() {
				t.Fatalf("%s, killed at change %d of the disk", what, n)
			}
			if !killed {
				break
			}
		}
		t.Logf("%s has %d changes of the disk", what, n-1)
		if n < 15 {
			t.Errorf("%s was killed only %d times", what, n-1)
		}
	}
}

// TestHarvestKilledAtRandom: kills at random times, while the repository changes, lose no file and
// leave no temporary file.
func TestHarvestKilledAtRandom(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	s.fill(t, set.ID, 50)
	for i := range 3 {
		s.putRaw(t, set.ID, strings.Repeat("big", i+1), strings.Repeat("0123456789abcdef", 1<<17)) // 2 MiB
	}
	dir := filepath.Join(t.TempDir(), "mirror")
	shots := 10
	if testing.Short() {
		shots = 4
	}
	took, killed, runs := 300*time.Millisecond, 0, 0
	for ; killed < shots && runs < 20*shots; runs++ {
		child := s.process(t, "harvest", s.base()+"/resources?limit=11", dir, "--accept-deletions")
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		began := time.Now()
		go func() { ended <- child.Wait() }()
		s.churn(t, t.Context(), set.ID, uint64(runs), 5)
		select {
		case <-time.After(rand.N(took) - time.Since(began)):
			_ = child.Process.Kill()
			if err := <-ended; err != nil { // otherwise the harvest had just ended
				killed++
			}
			took = took * 5 / 4
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			took = max(time.Since(began), 50*time.Millisecond)
		}
	}
	t.Logf("killed %d of %d runs", killed, runs)
	if killed < shots {
		t.Errorf("it was killed only %d times", killed)
	}
	s.harvests(t, s.base()+"/resources?limit=11", dir)
	equals(t, dir, s.everything(t, s.client, client.ListOptions{}), func(client.Resource) string { return "lab/runs/" })
	if _, err := os.Stat(filepath.Join(dir, "incoming")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("temporary files remain: %v", err)
	}
}
