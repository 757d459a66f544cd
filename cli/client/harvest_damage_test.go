package client

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHarvestRepairsFromStart: a damaged state of a mirror is reported, and a walk from the start
// repairs it.
func TestHarvestRepairsFromStart(t *testing.T) {
	t.Parallel()
	s := start(t)
	damages := map[string]struct {
		do      func(t *testing.T, dir string)
		message string // "" if a normal run does not notice the damage
	}{
		"no state":          {func(t *testing.T, dir string) { remove(t, dir, "state.json") }, "state.json is missing"},
		"half a state":      {func(t *testing.T, dir string) { cutFile(t, 20, dir, "state.json") }, "not a valid state file"},
		"no metadata":       {func(t *testing.T, dir string) { remove(t, dir, "metadata.jsonl") }, "has 0 bytes"},
		"half the metadata": {func(t *testing.T, dir string) { cutFile(t, 700, dir, "metadata.jsonl") }, "has 700 bytes"},
		"other metadata":    {func(t *testing.T, dir string) { spoil(t, 10, dir, "metadata.jsonl") }, "at byte 0"},
		"only the files":    {func(t *testing.T, dir string) { remove(t, dir, "state.json"); remove(t, dir, "metadata.jsonl") }, "neither empty nor a mirror"},
		"a damaged file":    {func(t *testing.T, dir string) { spoil(t, 2, dir, "files", "a.txt") }, ""},
		"a missing file":    {func(t *testing.T, dir string) { remove(t, dir, "files", "b") }, ""},
		"a strange file":    {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "files", "b", "notes"), "my own") }, ""},
		"strange folders": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "files", "mine", "too", "notes"), "my own")
		}, ""},
		"a folder for a file": {func(t *testing.T, dir string) {
			remove(t, dir, "files", "a.txt")
			write(t, filepath.Join(dir, "files", "a.txt", "notes"), "my own")
		}, ""},
		"a file for a folder": {func(t *testing.T, dir string) {
			remove(t, dir, "files", "b")
			write(t, filepath.Join(dir, "files", "b"), "my own")
		}, ""},
	}
	set := s.newSet(t, "lab", "runs")
	s.put(t, set.ID, "a.txt", "alpha")
	s.put(t, set.ID, "b/b.txt", "beta")
	template := filepath.Join(t.TempDir(), "mirror")
	s.harvests(t, "runs", template)
	s.put(t, set.ID, "later", "later")
	for what, d := range damages {
		dir := filepath.Join(t.TempDir(), "mirror")
		if err := os.CopyFS(dir, os.DirFS(template)); err != nil {
			t.Fatal(err)
		}
		d.do(t, dir)
		got := s.run(t, "", "harvest", "runs", dir)
		if reported := got.error != nil && strings.Contains(got.error.Error(), d.message); reported != (d.message != "") {
			t.Errorf("%s: %+v", what, got)
		}
		if what == "only the files" {
			continue
		}
		if d.message != "" && !strings.Contains(got.error.Error(), "--from-start") {
			t.Errorf("%s: the error gives no advice: %v", what, got.error)
		}
		s.harvests(t, "runs", dir, "--from-start")
		strays := treeOf(t, dir)
		for name := range strays {
			if strings.HasPrefix(name, "strays/") {
				if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != "my own" {
					t.Errorf("%s: %s has %q, %v", what, name, text, err)
				}
			}
		}
		if strings.Contains(what, "strange") || strings.Contains(what, " for a ") {
			remove(t, dir, "strays")
		}
		s.sameAs(t, dir, set.ID)
		if t.Failed() {
			t.Fatal(what)
		}
	}
}

func remove(t *testing.T, names ...string) {
	t.Helper()
	name := filepath.Join(names...)
	if _, err := os.Stat(name); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(name); err != nil {
		t.Fatal(err)
	}
}

func cutFile(t *testing.T, size int64, names ...string) {
	t.Helper()
	if err := os.Truncate(filepath.Join(names...), size); err != nil {
		t.Fatal(err)
	}
}

// spoil flips a bit.
func spoil(t *testing.T, at int, names ...string) {
	t.Helper()
	name := filepath.Join(names...)
	text := must[[]byte](t)(os.ReadFile(name))
	text[at] ^= 1
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestHarvestMovesStrays: unknown files in the mirror are moved to strays, not overwritten.
func TestHarvestMovesStrays(t *testing.T) {
	t.Parallel()
	s := start(t)
	set, _, _, dir := s.runsOf(t)
	write(t, filepath.Join(dir, "files", "c"), "my own")
	write(t, filepath.Join(dir, "files", "d"), "my own")
	write(t, filepath.Join(dir, "files", "e", "x"), "my own")
	s.put(t, set.ID, "c", "gamma")
	s.put(t, set.ID, "d/d", "delta")
	s.put(t, set.ID, "e", "epsilon")
	_, problems := s.harvests(t, "runs", dir)
	if strings.Count(problems, "did not belong to this mirror") != 3 {
		t.Errorf("stderr has %s", problems)
	}
	own := 0
	for name := range treeOf(t, filepath.Join(dir, "strays")) {
		if text, err := os.ReadFile(filepath.Join(dir, "strays", name)); err == nil && string(text) == "my own" {
			own++
		}
	}
	if own != 3 {
		t.Errorf("%d files remain", own)
	}
	remove(t, dir, "strays")
	s.sameAs(t, dir, set.ID)
}

// TestHarvestStaysInside: harvest does not follow links out of its folder.
func TestHarvestStaysInside(t *testing.T) {
	t.Parallel()
	s := start(t)
	set, _, _, dir := s.runsOf(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "files", "out")); err != nil {
		t.Fatal(err)
	}
	s.put(t, set.ID, "out/file", "text")
	s.harvests(t, "runs", dir)
	if list, err := os.ReadDir(outside); err != nil || len(list) > 0 {
		t.Errorf("%v, %v was written outside", list, err)
	}
	remove(t, dir, "strays")
	s.sameAs(t, dir, set.ID)
}

// TestHarvestTruncatesUnfinished: the next run removes an incomplete line, even if nothing has
// changed.
func TestHarvestTruncatesUnfinished(t *testing.T) {
	t.Parallel()
	s := start(t)
	set, _, _, dir := s.runsOf(t)
	for _, more := range [][]string{nil, {"--from-start"}} {
		file := must[*os.File](t)(os.OpenFile(filepath.Join(dir, "metadata.jsonl"), os.O_WRONLY|os.O_APPEND, 0))
		_, err := file.WriteString(`{"path":"files/c","id":"01`)
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		s.harvests(t, append([]string{"runs", dir}, more...)...)
		s.sameAs(t, dir, set.ID)
	}
}
