package bolt

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/paging"
	"labshelf/repository"
)

// version1 writes the file that a program of version 1 has made, with rows in every table, and returns its path.
func version1(t *testing.T) string {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata", "version-1.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(unpacked)
	path := filepath.Join(t.TempDir(), "meta.db")
	if err := errors.Join(err, unpacked.Close(), packed.Close(), os.WriteFile(path, content, 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// holdsVersion1 reads what is in the file of version 1, and holds it against the rules.
func holdsVersion1(t *testing.T, s *Store) {
	t.Helper()
	checkIntegrity(t, s)
	rules := repository.CheckEvents{Violation: func(v repository.Violation) {
		if v.Part != repository.PartBlobs { // the bodies were not kept
			t.Errorf("violation: %v", v)
		}
	}}
	_, err := repository.NewUpkeep(s, blobstest.NewMemory()).Check(t.Context(), repository.CheckOptions{NoData: true}, rules)
	if err != nil {
		t.Error(err)
	}
	err = s.View(t.Context(), func(tx *repository.Tx) error {
		files, references := 0, 0
		for r, err := range tx.Resources.Range(repository.ResourceRange{States: paging.All, Order: paging.Oldest}) {
			if err != nil {
				return err
			}
			files++
			for id, err := range tx.Blobs.Refs(r.Digest) {
				if references++; err != nil || id == (repository.ID{}) {
					return errors.Join(err, errors.New("a reference of nobody"))
				}
			}
		}
		for name, err := range map[string]error{
			"damages": last(tx.Damages.All()), "blobs": last(tx.Blobs.All(nil)), "steps": last(tx.Steps.All()),
			"sessions": last(tx.Sessions.OfUser(repository.ID{})),
		} {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := tx.Damages.Get(blobs.Digest{}); !errors.Is(err, repository.ErrNotFound) {
			t.Errorf("a damage: %v", err)
		}
		if state, err := tx.Scrub.Get(); err != nil || state != (repository.ScrubState{}) {
			t.Errorf("scrub: %+v, %v", state, err)
		}
		if files < 10 || references < files {
			t.Errorf("%d resources, %d references", files, references)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestVersion1 brings a file that was made by version 1 to the present one, and leaves it alone where it is only read.
func TestVersion1(t *testing.T) {
	t.Parallel()
	path := version1(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, options := range []Options{{ReadOnly: true}, {}, {}, {ReadOnly: true}} {
		s, err := Open(path, options)
		if err != nil {
			t.Fatal(err)
		}
		holdsVersion1(t, s)
		if !options.ReadOnly {
			damage := repository.Damage{Digest: blobs.Digest{1}, What: "it is not there"}
			err := s.Update(t.Context(), func(tx *repository.Tx) error {
				return errors.Join(tx.Damages.Put(damage), tx.Damages.Remove(damage.Digest))
			})
			if err != nil {
				t.Errorf("a row of the new table: %v", err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if after, err := os.ReadFile(path); err != nil || bytes.Equal(before, after) != options.ReadOnly {
			t.Errorf("read only: %v: the file is as it was: %v, %v", options.ReadOnly, bytes.Equal(before, after), err)
		} else {
			before = after
		}
	}
}

// TestReadOnly: several may read a file, nobody can change it, and nothing is written, also not a file where there is none.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	path := closedStore(t, 5)
	leftover := path + newMark + "1"
	if err := os.WriteFile(leftover, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first, err := Open(path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Open(path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("to write, while others read: %v", err)
	}
	for _, s := range []*Store{first, second} {
		checkIntegrity(t, s)
		if err := s.Update(t.Context(), putUser("anna")); !errors.Is(err, repository.ErrReadOnly) {
			t.Errorf("update: %v", err)
		}
		if health := s.Health().ReadOnly; !errors.Is(health, repository.ErrReadOnly) {
			t.Errorf("health: %v", health)
		}
		seen := 0
		if err := s.ViewDurable(t.Context(), count(&seen)); err != nil || seen != 5 {
			t.Errorf("%d users, %v", seen, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file has changed (%v)", err)
	}
	if _, err := os.Stat(leftover); err != nil {
		t.Errorf("what lay beside it: %v", err)
	}
	none := filepath.Join(t.TempDir(), "meta.db")
	if _, err := Open(none, Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("where there is no file: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(none)); err != nil || len(entries) != 0 {
		t.Errorf("in its directory: %v, %v", entries, err)
	}
}
