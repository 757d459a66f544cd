package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOlderRepository opens, serves, checks and backs up a data directory created by earlier
// programs: schema 5, upgraded to 14. It contains two files, one in the metadata and one in blobs,
// a deleted set with a deleted file, and a user with a key. listing.json is the listing of the
// first program.
func TestOlderRepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unpack(t, filepath.Join("testdata", "repository-of-schema-14.tar.gz"), dir)
	data := filepath.Join(dir, "data")
	path, err := program()
	check(t, err)
	service, err := Start(t.Context(), path, data)
	check(t, err)
	text, err := os.ReadFile(filepath.Join(dir, "listing.json"))
	check(t, err)
	was := listingOf(t, text)
	now := listingOf(t, fetch(t, service, "/resources?state=all"))
	if len(was) != 3 || len(now) != len(was) {
		t.Fatalf("%d resources are listed, want %d", len(now), len(was))
	}
	for i := range was {
		for name, value := range was[i] {
			if !strings.HasSuffix(strings.ToLower(name), "url") && now[i][name] != value {
				t.Errorf("%v of resource %v is %v, want %v", name, was[i]["id"], now[i][name], value)
			}
		}
		if was[i]["state"] == "active" {
			body := fetch(t, service, "/resources/"+was[i]["id"].(string)+"/data")
			if digest := fmt.Sprintf("%x", sha256.Sum256(body)); digest != was[i]["sha256"] {
				t.Errorf("the file of %v has the digest %s", was[i]["name"], digest)
			}
		}
	}
	check(t, service.Stop())
	run(t, "check", "--data", data)
	backup := filepath.Join(dir, "backup")
	run(t, "backup", "create", backup, "--data", data)
	run(t, "backup", "verify", backup)
	restored := filepath.Join(dir, "restored")
	run(t, "backup", "restore", backup, "--data", restored)
	run(t, "check", "--data", restored)
}

// listingOf returns the records of a page.
func listingOf(t *testing.T, text []byte) []map[string]any {
	t.Helper()
	var page struct{ Data []map[string]any }
	check(t, json.Unmarshal(text, &page))
	return page.Data
}

// fetch returns the body of a successful answer.
func fetch(t *testing.T, service *Service, path string) []byte {
	t.Helper()
	var body bytes.Buffer
	check(t, service.Download(t.Context(), service.Base()+path, &body))
	return body.Bytes()
}

// unpack extracts an archive to a folder.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	file, err := os.Open(archive)
	check(t, err)
	defer func() { check(t, file.Close()) }()
	text, err := gzip.NewReader(file)
	check(t, err)
	for entries := tar.NewReader(text); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		check(t, err)
		path := filepath.Join(dir, filepath.FromSlash(header.Name))
		if header.Typeflag == tar.TypeDir {
			check(t, os.MkdirAll(path, 0o700))
			continue
		}
		content, err := io.ReadAll(entries)
		check(t, err)
		check(t, os.WriteFile(path, content, 0o600))
	}
}
