package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"labshelf/bolt"
	"labshelf/cli/datadir"
	"labshelf/cli/display"
)

// A clock outside these years counts as wrong.
const (
	leastYear = 2025
	mostYear  = 2100
)

// maxListed is how many findings of one kind are listed individually.
const maxListed = 10

// ownedPaths returns the existing paths below the data directory whose owner and permissions
// matter. The directory comes first.
func (w place) ownedPaths() []string {
	paths := []string{w.data}
	for _, name := range []string{datadir.MetadataFile, datadir.KeyFile, datadir.HolderFile, "config.toml", "tmp", "parts", "trash", "blobs"} {
		paths = append(paths, filepath.Join(w.data, name))
	}
	for first := range 256 {
		paths = append(paths, filepath.Join(w.data, "blobs", fmt.Sprintf("%02x", first)))
	}
	there := paths[:0]
	for _, path := range paths {
		if exists(path) {
			there = append(there, path)
		}
	}
	return there
}

// permissions checks who can read and write the files. If the directory does not exist yet, it only
// checks that others cannot replace the parent's entries.
func permissions(w place) []Finding {
	if runtime.GOOS == "windows" {
		return []Finding{fine("not examined on Windows: check the access list of %s, which its files inherit", w.base)}
	}
	var found []Finding
	for _, path := range w.ownedPaths() {
		if f, bad := permission(path); bad {
			found = append(found, f)
		}
	}
	if info, err := os.Stat(w.base); err == nil && w.base != w.data && info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
		found = append(found, problem("chmod o-w "+w.base, "everybody can write to %s, and replace its entries", w.base))
	}
	switch {
	case len(found) == 0 && w.base != w.data:
		return nil
	case len(found) == 0:
		return []Finding{fine("only the owner can read or write the data")}
	}
	return some(found)
}

// permission returns a finding if the permissions of a file or folder are wrong.
func permission(path string) (f Finding, bad bool) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, false
	}
	if err != nil {
		return problem("check who may read the folders above it", "%s cannot be examined: %v", path, err), true
	}
	mode, want := info.Mode().Perm(), fs.FileMode(0o600)
	if info.IsDir() {
		want = 0o700
	}
	do := fmt.Sprintf("chmod %o %s", want, path)
	config := filepath.Base(path) == "config.toml" // the configuration contains no secret
	switch {
	case info.Mode()&fs.ModeSymlink != 0 && !config:
		return warning("replace the link by its target", "%s is a link; its target can be on another disk, or be missing", path), true
	case mode&0o022 != 0 && info.Mode()&fs.ModeSymlink == 0:
		return problem(do, "others can write to %s (mode %04o)", path, mode), true
	case mode&0o077 != 0 && !config:
		return warning(do, "others can read %s (mode %04o)", path, mode), true
	case mode&want != want:
		return problem(do, "its owner cannot read and write %s (mode %04o)", path, mode), true
	}
	return f, false
}

// some truncates a long list.
func some(found []Finding) []Finding {
	if len(found) <= maxListed {
		return found
	}
	rest := len(found) - maxListed
	return append(found[:maxListed], warning("fix these, and run doctor again", "and %d more of this kind", rest))
}

// clock checks that the system's clock shows a plausible year, and compares it with the last
// change.
func clock(w place) []Finding {
	now := time.Now()
	if now.Year() < leastYear || now.Year() > mostYear {
		return []Finding{problem("set the clock", "the clock says %s", now.UTC().Format(time.RFC3339))}
	}
	path := filepath.Join(w.data, datadir.MetadataFile)
	if !exists(path) {
		return []Finding{fine("the clock says %s", now.UTC().Format(time.RFC3339))}
	}
	meta, err := bolt.Open(path, bolt.Options{ReadOnly: true})
	switch {
	case errors.Is(err, bolt.ErrLocked):
		return []Finding{fine("the clock says %s; the last change is unknown while the service is running", now.UTC().Format(time.RFC3339))}
	case err != nil:
		return []Finding{problem(fmt.Sprintf("for details run: labshelf check --data %s", w.data), "the metadata file cannot be opened: %v", err)}
	}
	behind := meta.Health().ClockBehind
	if err := meta.Close(); err != nil {
		return []Finding{problem("look for disk errors in the system's log", "the metadata file cannot be closed: %v", err)}
	}
	if behind > datadir.ClockTolerance {
		return []Finding{warning("set the clock; until it has caught up, new changes get times just after the last change",
			"the clock says %s, %s before the last change", now.UTC().Format(time.RFC3339), display.Duration(behind))}
	}
	return []Finding{fine("the clock says %s, after the last change", now.UTC().Format(time.RFC3339))}
}
