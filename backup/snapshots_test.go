package backup_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"labshelf/backup"
	"labshelf/bolt"
	"labshelf/metadata"
)

// addUser changes the metadata of a data directory, so that the next snapshot differs.
func addUser(t *testing.T, dir, name string) {
	t.Helper()
	meta, err := bolt.Open(filepath.Join(dir, "meta.db"), bolt.Options{})
	check(t, err)
	err = meta.Update(t.Context(), func(tx *metadata.Tx) error {
		stamp := tx.Stamp()
		record := metadata.Record{ID: metadata.NewID(stamp), State: metadata.Active, Created: stamp, Modified: stamp}
		return tx.Users.Put(metadata.User{Record: record, Username: name})
	})
	check(t, errors.Join(err, meta.Close()))
}

// at parses the name of a snapshot or a time.
func at(t *testing.T, text string) backup.At {
	t.Helper()
	selected, err := backup.ParseAt(text)
	check(t, err)
	return selected
}

// usersAt restores a snapshot, and returns the users in it.
func usersAt(t *testing.T, dest, which string) (users []string) {
	t.Helper()
	dir, err := restoredAt(t, dest, which)
	check(t, err)
	_, users = contents(t, dir)
	return users
}

func restoredAt(t *testing.T, dest, which string) (dir string, err error) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "restored")
	_, err = backup.Restore(t.Context(), dest, dir, backup.RestoreOptions{At: at(t, which)})
	return dir, err
}

// names returns the snapshots in a backup, oldest first.
func names(t *testing.T, dest string) (all []string) {
	t.Helper()
	found, err := backup.List(t.Context(), dest)
	check(t, err)
	for _, m := range found.Snapshots {
		all = append(all, m.Name())
	}
	if found.Room.Snapshots != int64(len(all)) {
		t.Errorf("%d of %d snapshots use space", found.Room.Snapshots, len(all))
	}
	return all
}

// TestSnapshots: the last snapshots are kept and can be restored. Older snapshots are removed, but
// no files.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	w, dest := newWorld(t), t.TempDir()
	var made []backup.Manifest
	var states [][]string
	for i := range 5 {
		if i > 0 {
			addUser(t, w.dir, fmt.Sprint("user", i))
		}
		w.upload(fmt.Sprint("file of day ", i))
		created, _, err := w.tryBackUp(dest, backup.CreateOptions{Keep: 3})
		check(t, err)
		if want := max(0, min(1, i-2)); len(created.Removed) != want || want > 0 && created.Removed[0] != made[i-3].Name() {
			t.Errorf("backup %d removed %v", i, created.Removed)
		}
		_, users := contents(t, w.dir)
		made, states = append(made, created.Manifest), append(states, users)
	}
	if got, want := names(t, dest), []string{made[2].Name(), made[3].Name(), made[4].Name()}; !slices.Equal(got, want) {
		t.Errorf("snapshots %v, want %v", got, want)
	}
	for i, m := range made {
		if i < 2 {
			_, err := restoredAt(t, dest, m.Name())
			wantError(t, err, backup.ErrNoSnapshot, m.Name())
			continue
		}
		for _, which := range []string{m.Name(), time.UnixMicro(int64(m.Stamp)).UTC().Add(time.Millisecond).Format("2006-01-02 15:04:05.000")} {
			if got := usersAt(t, dest, which); !slices.Equal(got, states[i]) {
				t.Errorf("%s contains the users %v, want %v", which, got, states[i])
			}
		}
	}
	_, err := restoredAt(t, dest, "1999-12-31")
	wantError(t, err, backup.ErrNoSnapshot, "1999-12-31")
	found, err := backup.List(t.Context(), dest)
	check(t, err)
	if found.Room.Files.Count != 5 || found.Room.Bytes() <= found.Room.Metadata || found.Room.Metadata < 3*4096 {
		t.Errorf("room %+v", found.Room)
	}
	done, err := backup.Verify(t.Context(), dest, t.TempDir(), backup.RestoreOptions{})
	if check(t, err); done.Earlier != 2 {
		t.Errorf("verified %d earlier snapshots", done.Earlier)
	}
}

// TestSameState: a second backup of the same state replaces only its own snapshot.
func TestSameState(t *testing.T) {
	t.Parallel()
	w, dest := newWorld(t), t.TempDir()
	first := w.backUp(dest).Manifest
	addUser(t, w.dir, "anna")
	var last backup.Manifest
	for range 3 {
		created, _, err := w.tryBackUp(dest, backup.CreateOptions{Keep: 2})
		check(t, err)
		last = created.Manifest
	}
	if got, want := names(t, dest), []string{first.Name(), last.Name()}; !slices.Equal(got, want) {
		t.Errorf("snapshots %v, want %v", got, want)
	}
}

// TestRefusedSnapshots: a backup that is not a later state of the same repository is rejected with
// one reason, which one flag overrides.
func TestRefusedSnapshots(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		kind   error
		allow  backup.Allow
		others backup.Allow
		source func(t *testing.T, w *world, dest string) (dir string)
	}{
		{"of another repository", backup.ErrOtherRepository, backup.Allow{OtherRepository: true}, backup.Allow{NewerBackup: true, OtherEpoch: true},
			func(t *testing.T, _ *world, _ string) string { return newWorld(t).dir }},
		{"of a later stamp", backup.ErrNewerBackup, backup.Allow{NewerBackup: true}, backup.Allow{OtherRepository: true, OtherEpoch: true},
			func(t *testing.T, w *world, dest string) string {
				older := filepath.Join(t.TempDir(), "older")
				check(t, os.CopyFS(older, os.DirFS(w.dir)))
				addUser(t, w.dir, "late")
				w.backUp(dest)
				return older
			}},
		{"of an epoch that was undone", backup.ErrOtherEpoch, backup.Allow{OtherEpoch: true}, backup.Allow{OtherRepository: true, NewerBackup: true},
			func(t *testing.T, w *world, dest string) string {
				before := w.backUp(dest).Manifest
				addUser(t, w.dir, "undone")
				w.backUp(dest)
				dir, err := restoredAt(t, dest, before.Name())
				check(t, err)
				addUser(t, dir, "later than the undone state")
				return dir
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, dest := newWorld(t), t.TempDir()
			w.upload("one")
			w.backUp(dest)
			dir := tt.source(t, w, dest)
			before := names(t, dest)
			other := &world{t: t, dir: dir}
			for _, allow := range []backup.Allow{{}, tt.others} {
				_, _, err := other.tryBackUp(dest, backup.CreateOptions{Allow: allow})
				wantError(t, err, tt.kind, "the latest snapshot in "+dest)
				if got := names(t, dest); !slices.Equal(got, before) {
					t.Errorf("snapshots %v, before the refusal %v", got, before)
				}
			}
			wantSame(t, w.dir, mustRestore(t, dest))
			_, _, err := other.tryBackUp(dest, backup.CreateOptions{Allow: tt.allow})
			check(t, err)
			wantSame(t, dir, mustRestore(t, dest))
			addUser(t, dir, "next")
			other.backUp(dest) // the flag is not needed a second time
			for _, name := range before {
				if got := names(t, dest); !slices.Contains(got, name) {
					t.Errorf("snapshots %v, before %v", got, before)
				}
			}
		})
	}
}

// TestEpochsAreKept: a restored repository continues in the same folder, and the last snapshot of
// each epoch is kept.
func TestEpochsAreKept(t *testing.T) {
	t.Parallel()
	w, dest := newWorld(t), t.TempDir()
	var lasts []string
	for epoch := range 3 {
		for i := range 3 {
			addUser(t, w.dir, fmt.Sprintf("user-%d-%d", epoch, i))
			_, _, err := w.tryBackUp(dest, backup.CreateOptions{Keep: 1})
			check(t, err)
		}
		all := names(t, dest)
		lasts = append(lasts, all[len(all)-1])
		if !slices.Equal(all, lasts) {
			t.Errorf("epoch %d: snapshots %v, want %v", epoch, all, lasts)
		}
		w.dir = mustRestore(t, dest)
	}
	if _, err := backup.Verify(t.Context(), dest, t.TempDir(), backup.RestoreOptions{}); err != nil {
		t.Error(err)
	}
}

// TestDamagedSnapshots: damage that affects only an earlier snapshot is found, and other snapshots
// can still be restored.
func TestDamagedSnapshots(t *testing.T) {
	t.Parallel()
	w, source := newWorld(t), t.TempDir()
	old := w.upload("old")[0]
	first := w.backUp(source).Manifest
	w.purge(old)
	w.upload("new")
	second := w.backUp(source).Manifest
	for name, break_ := range map[string]func(t *testing.T, dest string){
		"no manifest": func(t *testing.T, dest string) {
			check(t, os.Truncate(filepath.Join(dest, "manifest-"+first.Name()+".json"), 9))
		},
		"no metadata":    func(t *testing.T, dest string) { check(t, os.Remove(filepath.Join(dest, first.Database.File))) },
		"other bytes":    func(t *testing.T, dest string) { flip(t, filepath.Join(dest, first.Database.File)) },
		"no file":        func(t *testing.T, dest string) { check(t, os.Remove(path(dest, old))) },
		"a file flipped": func(t *testing.T, dest string) { flip(t, path(dest, old)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dest := filepath.Join(t.TempDir(), "backup")
			check(t, os.CopyFS(dest, os.DirFS(source)))
			break_(t, dest)
			_, err := backup.Verify(t.Context(), dest, t.TempDir(), backup.RestoreOptions{})
			wantError(t, err, backup.ErrBroken, "snapshot "+first.Name())
			_, err = restoredAt(t, dest, first.Name())
			wantError(t, err, backup.ErrBroken, "")
			_, err = restoredAt(t, dest, second.Name())
			check(t, err)
			if name == "no manifest" {
				w := &world{t: t, dir: mustRestore(t, dest)}
				w.backUp(dest)
				if _, err := os.Stat(filepath.Join(dest, first.Database.File)); err != nil {
					t.Errorf("the metadata of a snapshot with a damaged manifest: %v", err)
				}
			}
		})
	}
}

func TestParseAt(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"2026-11-23", "2026-11-23 14:05", "2026-11-23 14:05:59", "2026-11-23 14:05:59 UTC", "2026-11-23T14:05:59Z", "2026-11-23T14:05:59.123+01:00",
		"2026-11-23 14:05:59+01:00", "2026-11-23 14:05:59.123Z", "2026-11-23T14:05", "2026-11-23T14:05:59", "2026-11-23 14:05+01:00",
		"1795402068937160-44b82f8e",
	} {
		if _, err := backup.ParseAt(text); err != nil {
			t.Error(err)
		}
	}
	for _, text := range []string{"", "yesterday", "1795402068937160", "meta-1795402068937160-44b82f8e.db", "2026-13-01", "14:05"} {
		if _, err := backup.ParseAt(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// TestUndoneSnapshot: a time selects no state that a later restoration has undone. The name of the
// snapshot still selects it.
func TestUndoneSnapshot(t *testing.T) {
	t.Parallel()
	w, dest := newWorld(t), t.TempDir()
	var made []string
	back := func(o backup.CreateOptions) {
		t.Helper()
		created, _, err := w.tryBackUp(dest, o)
		check(t, err)
		made = append(made, created.Manifest.Name())
	}
	back(backup.CreateOptions{})
	addUser(t, w.dir, "undone")
	back(backup.CreateOptions{})
	var err error
	w.dir, err = restoredAt(t, dest, made[0])
	check(t, err)
	back(backup.CreateOptions{Allow: backup.Allow{OtherEpoch: true}})
	tomorrow := time.Now().UTC().Add(24 * time.Hour).Format(time.DateOnly)
	if users := usersAt(t, dest, tomorrow); slices.Contains(users, "undone") {
		t.Errorf("a time selects an undone snapshot: %v", users)
	}
	if users := usersAt(t, dest, made[1]); !slices.Contains(users, "undone") {
		t.Errorf("the name of the undone snapshot selects %v", users)
	}
}
