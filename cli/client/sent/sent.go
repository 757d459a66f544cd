// Package sent records which files put has added to a set with a key that cannot read the set, so
// that another run does not add them again.
package sent

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"labshelf/blobs"
)

// File is a file that was added to the set.
type File struct {
	Name   string       `json:"name"`
	Bytes  int64        `json:"bytes"`
	SHA256 blobs.Digest `json:"sha256"`
	ID     string       `json:"id"` // of the resource
}

// List is the list of the files of one set. It is a file in the configuration folder of the user,
// because the system may empty the cache folder.
type List struct{ path string }

// Of returns the list for a set of the service with a base URL.
func Of(base, set string) (List, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return List{}, fmt.Errorf("there is no folder for the list of sent files: %w", err)
	}
	sum := sha256.Sum256([]byte(base + " " + set))
	return List{filepath.Join(dir, "labshelf", "sent", hex.EncodeToString(sum[:])+".jsonl")}, nil
}

// Files returns the files in the order in which they were added. It skips a line that a power
// failure left incomplete.
func (l List) Files() (files []File, err error) {
	text, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for err == nil && lines.Scan() {
		var f File
		if json.Unmarshal(lines.Bytes(), &f) == nil && f.Name != "" {
			files = append(files, f)
		}
	}
	return files, errors.Join(err, lines.Err())
}

// Add appends a file, and returns when the list is on stable storage. Several processes may add
// files at the same time.
func (l List) Add(f File) error {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	list, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	line, err := json.Marshal(f)
	if err == nil {
		_, err = list.Write(append(append([]byte("\n"), line...), '\n')) // the last line may be incomplete
	}
	return errors.Join(err, list.Sync(), list.Close())
}
