// Package resumption stores which upload of a large file is unfinished, so that another run of put
// can resume it.
package resumption

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

// kept is how long an unfinished upload is stored. Services remove idle uploads earlier.
const kept = 90 * 24 * time.Hour

// uploadID matches ids of uploads.
var uploadID = regexp.MustCompile(`^[0-9A-Z]{26}$`)

// Uploads are the stored uploads. Losing one only costs time, so errors are ignored.
type Uploads struct{ folder string }

// Stored returns the uploads of this user; with a folder of "" nothing is stored.
func Stored() Uploads {
	dir, err := os.UserCacheDir()
	if err != nil {
		return Uploads{}
	}
	return Uploads{filepath.Join(dir, "labshelf", "uploads")}
}

// Of returns the entry of an upload. The arguments identify it: the service, the resource, the
// conditions.
func (b Uploads) Of(what ...any) Entry {
	if b.folder == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(fmt.Sprintf("%q", what)))
	return Entry(filepath.Join(b.folder, hex.EncodeToString(sum[:])))
}

// Entry is the path of the file that holds the id of one upload.
type Entry string

// ID returns the id of the upload, or "".
func (r Entry) ID() string {
	text, err := os.ReadFile(string(r))
	if err != nil {
		return ""
	}
	id := strings.TrimSpace(string(text))
	if !uploadID.MatchString(id) { // the file may be incomplete after a power failure
		return ""
	}
	return id
}

// Save stores the id of an upload, and removes entries that have expired.
func (r Entry) Save(id string) {
	folder := filepath.Dir(string(r))
	if r == "" || os.MkdirAll(folder, 0o700) != nil {
		return
	}
	_ = os.WriteFile(string(r), []byte(id+"\n"), 0o600)
	list, _ := os.ReadDir(folder)
	for _, entry := range list {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > kept {
			_ = os.Remove(filepath.Join(folder, entry.Name()))
		}
	}
}

// Remove removes the entry.
func (r Entry) Remove() { _ = os.Remove(string(r)) }
