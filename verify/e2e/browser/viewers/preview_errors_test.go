package viewers

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"labshelf/verify/e2e"
	"labshelf/verify/e2e/browser"
)

// The preview of a damaged, deleted or replaced file shows the error and a retry button.
func TestPreviewErrors(t *testing.T) {
	t.Parallel()
	browser.OneNode(t)
	l := openViewer(t)
	l.Expect("status of 500", "status of 410", "status of 412", "net::ERR_")
	long := strings.Repeat("a line of some length\n", 40000)
	for _, c := range []struct{ name, content string }{
		{"a.txt", long}, {"a.csv", large(300 << 10)}, {"a.md", long[:300<<10]}, {"a.json", "[" + strings.Repeat("1,", 200_000) + "1]"},
		{"a.png", sample(t, "cells-40x.png")}, {"a.pdf", "%PDF-1.4\n" + long}, {"a.wav", "RIFF\xff\xff\xff\x7fWAVEfmt " + long}, {"a.raw", "\x00" + long},
	} {
		t.Log(c.name)
		r := l.put(c.name, c.content)
		lose(t, l.site.Data, r)
		l.GoTo("/resources/" + r.ID)
		l.Sees("Try again", "restore it from a backup")
	}
	l.Shots("damaged")

	l.Cut(l.site.Base() + "/events*") // otherwise the page would show the change of its file immediately
	r := l.put("b.txt", long)
	l.At("/resources/" + r.ID)
	l.Sees("Show more")
	l.site.Do(t, http.MethodDelete, "/resources/"+r.ID, nil)
	l.Press("Show more")
	l.Sees("the resource is deleted")
	l.site.Do(t, http.MethodPost, "/resources/"+r.ID+"/restore", nil)
	l.Press("Try again")
	l.SeesNot("the resource is deleted")

	r = l.put("c.txt", long)
	l.At("/resources/" + r.ID)
	l.Sees("Show more")
	if _, err := l.site.Upload(t.Context(), http.MethodPut, "/resources/"+r.ID,
		e2e.File{Filename: "c.txt", Body: bytes.NewReader(make([]byte, len(long))), Size: int64(len(long))}); err != nil {
		t.Fatal(err)
	}
	l.Press("Show more")
	l.Sees("has been replaced")
	l.Sees("a line of some length")

	l.file("empty.csv", "")
	l.Sees("This file is empty")
}

// lose deletes the blob of a resource from the disk.
func lose(t *testing.T, data string, r e2e.Resource) {
	t.Helper()
	lost := false
	err := filepath.WalkDir(filepath.Join(data, "blobs"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == r.SHA256 {
			lost = true
			return os.Remove(path)
		}
		return err
	})
	if err != nil || !lost {
		t.Fatalf("the blob of %s does not exist: %v", r.Name, err)
	}
}

// An image whose download is interrupted because of damage shows the error.
func TestPreviewOfInterruptedDownload(t *testing.T) {
	t.Parallel()
	browser.OneNode(t)
	l := openViewer(t, "--verify-reads")
	l.Expect("net::ERR_", "status of 500")
	content := noise(t)
	r := l.put("a.png", string(content))
	content[len(content)/2] ^= 1
	if err := os.WriteFile(filepath.Join(l.site.Data, "blobs", r.SHA256[:2], r.SHA256), content, 0o600); err != nil {
		t.Fatal(err)
	}
	l.At("/resources/" + r.ID)
	l.Sees("Try again", "restore it from a backup")
}
