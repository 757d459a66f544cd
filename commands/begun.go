package commands

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

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
	return strings.TrimSpace(string(text))
}

func (r remembered) keep(id string) {
	if r == "" || os.MkdirAll(filepath.Dir(string(r)), 0o700) != nil {
		return
	}
	_ = os.WriteFile(string(r), []byte(id+"\n"), 0o600)
}

func (r remembered) forget() { _ = os.Remove(string(r)) }
