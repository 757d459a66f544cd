package datadir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// holder describes the process that uses the data directory, as far as it is known.
func holder(path string) string {
	text, err := os.ReadFile(filepath.Join(path, HolderFile))
	pid, since, ok := strings.Cut(strings.TrimSpace(string(text)), " ")
	if err != nil || !ok {
		return "another process"
	}
	return fmt.Sprintf("process %s, started at %s (if it is still running)", pid, since)
}

// WriteHolder writes the note that holder reads. Only that message depends on it.
func (d *Dir) WriteHolder() error {
	note := fmt.Sprintf("%d %s\n", os.Getpid(), time.Now().UTC().Format(time.RFC3339))
	return os.WriteFile(filepath.Join(d.Path, HolderFile), []byte(note), 0o600)
}

// RemoveHolder removes the note.
func (d *Dir) RemoveHolder() error { return os.Remove(filepath.Join(d.Path, HolderFile)) }
