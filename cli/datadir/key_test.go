package datadir

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/repository"
)

// TestFirstKeyAfterInterruptedStart: if a first start is interrupted at any point, the next start
// shows a key that works.
func TestFirstKeyAfterInterruptedStart(t *testing.T) {
	t.Parallel()
	data, err := Open(t.TempDir(), Stores{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	}()
	repo := repository.New(data.Metadata, data.Blobs, repository.Config{PageSize: 1, DirectoryPageSize: 1})
	defer repo.Close()

	// The file cannot be written. No user may exist then, so that the next start tries again.
	obstacle := data.KeyPath() + ".new"
	if err := os.MkdirAll(filepath.Join(obstacle, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if shown, err := data.Bootstrap(t.Context(), repo, ""); err == nil || shown != "" {
		t.Fatalf("the key file cannot be written, but the start returned %q, %v", shown, err)
	}
	if err := os.RemoveAll(obstacle); err != nil {
		t.Fatal(err)
	}

	// The first start ended after it had written a key, and before it created the user.
	for _, path := range []string{data.KeyPath(), obstacle} {
		if err := os.WriteFile(path, []byte("lsk_of_the_start_that_ended\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	shown, err := data.Bootstrap(t.Context(), repo, "")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(data.KeyPath())
	if err != nil || string(kept) != shown+"\n" {
		t.Errorf("shown %q, stored %q, %v", shown, kept, err)
	}
	if p, err := repo.Credentials.Authenticate(t.Context(), shown, auth.Origin{}); err != nil || p.Username != "admin" || !p.Sysadmin {
		t.Errorf("the key belongs to %+v, %v", p, err)
	}
	if _, err := os.Lstat(obstacle); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s still exists: %v", obstacle, err)
	}
	if again, err := data.Bootstrap(t.Context(), repo, ""); again != "" || err != nil {
		t.Errorf("the second time: %q, %v", again, err)
	}
}

// TestFirstKeyOfTwoNodes: two nodes start concurrently over the same metadata. Only one of them
// shows a key and stores it.
func TestFirstKeyOfTwoNodes(t *testing.T) {
	t.Parallel()
	data, err := Open(t.TempDir(), Stores{})
	if err != nil {
		t.Fatal(err)
	}
	repo := repository.New(data.Metadata, data.Blobs, repository.Config{})
	defer func() {
		repo.Close()
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	}()
	first := &Dir{Path: t.TempDir(), Metadata: data.Metadata}
	var theirs string
	second := &Dir{Path: t.TempDir(), Metadata: seenBefore{data.Metadata, func() {
		if theirs, err = first.Bootstrap(t.Context(), repo, ""); err != nil || theirs == "" {
			t.Fatal(theirs, err)
		}
	}}}
	if shown, err := second.Bootstrap(t.Context(), repo, ""); shown != "" || err != nil {
		t.Errorf("the second node: %q, %v", shown, err)
	}
	if _, err := os.Lstat(second.KeyPath()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it keeps a key of no user: %v", err)
	}
	if kept, err := os.ReadFile(first.KeyPath()); err != nil || string(kept) != theirs+"\n" {
		t.Errorf("the first node keeps %q, want %q, %v", kept, theirs, err)
	}
}

// seenBefore wraps metadata and returns their state from before a change.
type seenBefore struct {
	metadata.Store
	then func()
}

func (s seenBefore) View(ctx context.Context, fn func(*metadata.Tx) error) error {
	defer s.then()
	return s.Store.View(ctx, fn)
}

// TestDamagedFirstUserIsExplained: a service does not start if the first user cannot be read. The
// error says how to restore the metadata.
func TestDamagedFirstUserIsExplained(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, damaged := range []bool{false, true} {
		data, err := Open(dir, Stores{})
		if err != nil {
			t.Fatal(err)
		}
		repo := repository.New(data.Metadata, data.Blobs, repository.Config{})
		_, err = data.Bootstrap(t.Context(), repo, auth.NewKey())
		repo.Close()
		if closing := data.Close(); closing != nil {
			t.Fatal(closing)
		}
		if damaged {
			if err == nil || !strings.Contains(err.Error(), "labshelf backup restore") {
				t.Errorf("metadata with a damaged user: %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, MetadataFile)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte("admin"), []byte("bdmin")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
