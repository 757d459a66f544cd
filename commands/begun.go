package commands

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// keptBegun is how long an upload is remembered. Services forget one sooner that nothing is added to.
const keptBegun = 90 * 24 * time.Hour

// anUploadID is what each id of an upload looks like.
var anUploadID = regexp.MustCompile(`^[0-9A-Z]{26}$`)

// begun remembers on this machine which upload a large file was on its way by, so that another run of put goes on with it. What
// cannot be remembered, or found again, costs time and nothing else.
type begun struct{ folder string }

// begunUploads is where this person's are; a folder of "" remembers nothing.
func begunUploads() begun {
	dir, err := os.UserCacheDir()
	if err != nil {
		return begun{}
	}
	return begun{filepath.Join(dir, "labshelf", "uploads")}
}

// of is the place for one file on its way to one place.
func (b begun) of(what ...any) remembered {
	if b.folder == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(fmt.Sprintf("%q", what)))
	return remembered(filepath.Join(b.folder, hex.EncodeToString(sum[:])))
}

// remembered is the file that holds the id of one upload.
type remembered string

// id is that of the upload; "": none is known.
func (r remembered) id() string {
	text, err := os.ReadFile(string(r))
	if err != nil {
		return ""
	}
	id := strings.TrimSpace(string(text))
	if !anUploadID.MatchString(id) { // the machine lost power while it was written
		return ""
	}
	return id
}

// keep also clears away what nobody has come back for: of files that have changed since, or are gone.
func (r remembered) keep(id string) {
	folder := filepath.Dir(string(r))
	if r == "" || os.MkdirAll(folder, 0o700) != nil {
		return
	}
	_ = os.WriteFile(string(r), []byte(id+"\n"), 0o600)
	list, _ := os.ReadDir(folder)
	for _, entry := range list {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > keptBegun {
			_ = os.Remove(filepath.Join(folder, entry.Name()))
		}
	}
}

func (r remembered) forget() { _ = os.Remove(string(r)) }
