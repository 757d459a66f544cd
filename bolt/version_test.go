package bolt

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/metadata/tables"
	"labshelf/paging"
	"labshelf/repository"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
)

// olderFile writes a file of the oldest schema, with rows in most tables, and returns its path.
func olderFile(t *testing.T) string {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata", fmt.Sprintf("version-%d.db.gz", tables.Oldest)))
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

// holdsOlder reads the content of an older file, and checks it against the rules.
func holdsOlder(t *testing.T, s *Store) {
	t.Helper()
	holdsRules(t, s)
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		files, references := 0, 0
		for r, err := range tx.Resources.Range(metadata.ResourceRange{States: paging.All, Order: paging.Oldest}) {
			if err != nil {
				return err
			}
			files++
			for of, err := range tx.Blobs.Refs(r.Digest) {
				if references++; err != nil || of.Resource == (metadata.ID{}) {
					return errors.Join(err, errors.New("a reference without a row"))
				}
			}
		}
		for name, err := range map[string]error{
			"damages": last(tx.Damages.All(blobs.Digest{})), "blobs": last(tx.Blobs.All(blobs.Digest{})), "steps": last(tx.Cascades.All(metadata.ID{})),
			"sessions": last(tx.Sessions.OfUser(metadata.ID{})), "transfers": last(tx.Uploads.Ended(math.MaxInt64)),
			"versions": last(tx.Versions.All(metadata.VersionKey{})), "references": last(tx.Blobs.Refs(blobs.Digest{})),
			"older": last(tx.Versions.Before(metadata.VersionKey{Version: 1})),
		} {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if wait, err := tx.Uploads.Awaited(blobs.Digest{}); err != nil || wait {
			t.Errorf("a transfer waits: %v, %v", wait, err)
		}
		if _, err := tx.Uploads.Get(metadata.ID{}); !errors.Is(err, metadata.ErrNotFound) {
			t.Errorf("a transfer: %v", err)
		}
		if _, err := tx.Damages.Get(blobs.Digest{}); !errors.Is(err, metadata.ErrNotFound) {
			t.Errorf("a damage: %v", err)
		}
		if state, err := tx.Scrub.Get(); err != nil || state != (metadata.ScrubState{}) {
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

// holdsRules checks a file without its bodies.
func holdsRules(t *testing.T, s *Store) {
	t.Helper()
	checkIntegrity(t, s)
	rules := maintenance.CheckEvents{Violation: func(v metadata.Violation) {
		if v.Part != metadata.PartBlobs { // the bodies are missing
			t.Errorf("violation: %v", v)
		}
	}}
	_, err := maintenance.NewUpkeep(s, blobstest.NewMemory()).Check(t.Context(), maintenance.CheckOptions{NoData: true}, rules)
	if err != nil {
		t.Error(err)
	}
}

// TestOlderVersion tests that opening an older file for writing upgrades it, and that reading
// changes nothing.
func TestOlderVersion(t *testing.T) {
	t.Parallel()
	path := olderFile(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, options := range []Options{{ReadOnly: true}, {}, {}, {ReadOnly: true}} {
		holdsOpened(t, path, options)
		if after, err := os.ReadFile(path); err != nil || bytes.Equal(before, after) != options.ReadOnly {
			t.Errorf("read only: %v: the file is unchanged: %v, %v", options.ReadOnly, bytes.Equal(before, after), err)
		} else {
			before = after
		}
	}
}

// holdsOpened opens an older file. If the file is writable, holdsOpened uses the tables that the
// file lacked.
func holdsOpened(t *testing.T, path string, options Options) {
	t.Helper()
	s, err := Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	holdsOlder(t, s)
	holdsEpoch(t, s)
	if !options.ReadOnly {
		damage := metadata.Damage{Digest: blobs.Digest{1}, What: "it is not there"}
		upload := metadata.ResumableUpload{ID: metadatatest.IDAt('T', 1), Expires: 9, Digest: blobs.Digest{1}}
		err := s.Update(t.Context(), func(tx *metadata.Tx) error { return errors.Join(tx.Damages.Put(damage), tx.Uploads.Put(upload)) })
		if err != nil {
			t.Errorf("rows of new tables: %v", err)
		}
		checkIntegrity(t, s)
		err = s.Update(t.Context(), func(tx *metadata.Tx) error {
			wait, err := tx.Uploads.Awaited(upload.Digest)
			if !wait {
				err = errors.Join(err, errors.New("the upload does not wait"))
			}
			return errors.Join(err, tx.Damages.Remove(damage.Digest), tx.Uploads.Remove(upload.ID))
		})
		if err != nil {
			t.Errorf("rows of new tables, removed: %v", err)
		}
	}
	check(s.Close())
}

// TestReplaceInOlderFile tests that the first replacement keeps the replaced file as a version.
func TestReplaceInOlderFile(t *testing.T) {
	t.Parallel()
	s, err := Open(olderFile(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	replaceOlder(t, s)
	holdsRules(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func replaceOlder(t *testing.T, s *Store) {
	t.Helper()
	var old metadata.Resource
	var admin auth.Principal
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		for r, err := range tx.Resources.Range(metadata.ResourceRange{States: paging.Active, Order: paging.Newest}) {
			if old = r; err != nil || r.Version > 0 {
				return err
			}
		}
		return nil
	})
	err = errors.Join(err, s.View(t.Context(), func(tx *metadata.Tx) error {
		for u, err := range tx.Users.All(metadata.ID{}) {
			if admin.UserID = u.ID; err != nil || u.Sysadmin && u.State == metadata.Active {
				return err
			}
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	svc := repositorytest.NewStill(s, blobstest.NewMemory(), repository.Config{HoldUpTo: 100, PageSize: 100})
	up := svc.Uploads.NewUpload(admin)
	err = up.Receive(t.Context(), strings.NewReader("replaced"))
	_, failed := up.Replace(t.Context(), old.ID.String(), files.UploadFields{Filename: "new"})
	if err = errors.Join(err, failed, up.Discard()); err != nil {
		t.Fatal(err)
	}
	page, err := svc.Versions.List(t.Context(), admin, core.ListRequest{Container: old.ID.String()})
	if err != nil || len(page.Items) != int(old.Version)+2 {
		t.Errorf("versions %+v of %+v, %v", page.Items, old, err)
	}
}

// holdsEpoch tests that an upgraded file keeps its epoch.
func holdsEpoch(t *testing.T, s *Store) {
	t.Helper()
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		epoch, err := tx.Lineage.Epoch()
		if got, want := fmt.Sprint(epoch.ID), "ae733d5eab59c3e65b3bb2fd479c9e9a"; got != want {
			t.Errorf("epoch %s, want %s", got, want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// schema returns the schema version of the file.
func (s *Store) schema(t *testing.T) (is uint32) {
	t.Helper()
	err := inspect(s.db, func(k *kv) error {
		header, err := tables.ReadHeader(k)
		is = header.Schema
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return is
}

// TestReadOnly tests that several processes may read a file, and that nothing is written.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	path := closedStore(t, 5)
	leftover := path + newInfix + "1"
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
		t.Errorf("opening for writing, while others read: %v", err)
	}
	for _, s := range []*Store{first, second} {
		checkIntegrity(t, s)
		if err := s.Update(t.Context(), putUser("anna")); !errors.Is(err, metadata.ErrReadOnly) {
			t.Errorf("update: %v", err)
		}
		if health := s.Health().ReadOnly; !errors.Is(health, metadata.ErrReadOnly) {
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
		t.Errorf("remaining files: %v", err)
	}
	none := filepath.Join(t.TempDir(), "meta.db")
	if _, err := Open(none, Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(none)); err != nil || len(entries) != 0 {
		t.Errorf("in its directory: %v, %v", entries, err)
	}
}

// TestUpgradeKeepsACopy tests that an upgrade copies the file first. If it cannot, it changes
// nothing.
func TestUpgradeKeepsACopy(t *testing.T) {
	t.Parallel()
	path := olderFile(t)
	before := readerOf(t, path)
	original, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(t.TempDir(), strings.Repeat("m", 250)) // so long that the name of the copy would be too long
	if err := os.WriteFile(long, original, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(long, Options{}); !errors.Is(err, ErrNoCopy) {
		t.Fatalf("if no copy can be kept: %v, %v", s, err)
	}
	if after, err := os.ReadFile(long); err != nil || !bytes.Equal(after, original) {
		t.Errorf("if no copy can be kept, the file has changed (%v)", err)
	}
	earlier, copied := path+".schema-14", path+".schema-14.2"
	if err := os.WriteFile(earlier, []byte("of an earlier upgrade"), 0o600); err != nil {
		t.Fatal(err)
	}
	for again, want := range []*Upgrade{{From: tables.Oldest, To: tables.Schema, Copy: copied}, nil} {
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Upgraded(); (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("opened %d times before: %+v, want %+v", again, got, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := readerOf(t, copied); got != before {
		t.Errorf("the copy has %d users and version %d; want %d and %d", got.users, got.version, before.users, before.version)
	}
	if kept, err := os.ReadFile(earlier); err != nil || string(kept) != "of an earlier upgrade" {
		t.Errorf("the copy of the earlier upgrade is %q, %v", kept, err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 3 {
		t.Errorf("the remaining files are %v, %v", entries, err)
	}
	if info, err := os.Stat(copied); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("other users can read the copy: %v, %v", info.Mode(), err)
	}
}

// content is the content of a read-only file.
type content struct {
	version uint32
	users   int
}

func readerOf(t *testing.T, path string) (c content) {
	t.Helper()
	s, err := Open(path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	c.version = s.schema(t)
	if err := errors.Join(s.View(t.Context(), count(&c.users)), s.Close()); err != nil {
		t.Fatal(err)
	}
	return c
}
