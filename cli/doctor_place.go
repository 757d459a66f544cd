package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"labshelf/bolt"
	"labshelf/commands"
)

// Between these years clocks are believed.
const (
	leastYear = 2025
	mostYear  = 2100
)

// maxListed is how many findings of one kind are named one by one.
const maxListed = 10

// ownedPaths are the paths below the data directory whose owner and permissions count, as far as they exist; itself first.
func (w patient) ownedPaths() []string {
	paths := []string{w.data}
	for _, name := range []string{metadataFile, keyFile, holderFile, "config.toml", "tmp", "parts", "trash", "blobs"} {
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

// permissions looks who can read and write what is there. Of a directory that is still to be made only the place counts, which
// others must not be able to replace it in.
func permissions(w patient) []finding {
	if runtime.GOOS == "windows" {
		return []finding{fine("not examined on Windows: look at the access list of %s, which files in it inherit", w.base)}
	}
	var found []finding
	for _, path := range w.ownedPaths() {
		if f, bad := permission(path); bad {
			found = append(found, f)
		}
	}
	if info, err := os.Stat(w.base); err == nil && w.base != w.data && info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
		found = append(found, problem("chmod o-w "+w.base, "everybody can write to %s, and put something else there", w.base))
	}
	switch {
	case len(found) == 0 && w.base != w.data:
		return nil
	case len(found) == 0:
		return []finding{fine("nobody but the owner can read or write what is there")}
	}
	return some(found)
}

// permission tells what is wrong with the permissions of one file or folder.
func permission(path string) (f finding, bad bool) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, false
	}
	if err != nil {
		return problem("look at who may read the folders above it", "%s cannot be looked at: %v", path, err), true
	}
	mode, want := info.Mode().Perm(), fs.FileMode(0o600)
	if info.IsDir() {
		want = 0o700
	}
	do := fmt.Sprintf("chmod %o %s", want, path)
	config := filepath.Base(path) == "config.toml" // which holds nothing secret
	switch {
	case info.Mode()&fs.ModeSymlink != 0 && filepath.Base(path) != "config.toml":
		return warning("put the real thing there", "%s is a link; where it leads can be another disk, or be gone", path), true
	case mode&0o022 != 0 && info.Mode()&fs.ModeSymlink == 0:
		return problem(do, "others can write to %s (mode %04o)", path, mode), true
	case mode&0o077 != 0 && !config:
		return warning(do, "others can read %s (mode %04o)", path, mode), true
	case mode&want != want:
		return problem(do, "its owner cannot read and write %s (mode %04o)", path, mode), true
	}
	return f, false
}

// some shortens a long list.
func some(found []finding) []finding {
	if len(found) <= maxListed {
		return found
	}
	rest := len(found) - maxListed
	return append(found[:maxListed], warning("see to those, and run this again", "and %d more of this kind", rest))
}

// clock holds the system's clock against reason, and against the last change.
func clock(w patient) []finding {
	now := time.Now()
	if now.Year() < leastYear || now.Year() > mostYear {
		return []finding{problem("set the clock", "the clock says %s", now.UTC().Format(time.RFC3339))}
	}
	path := filepath.Join(w.data, metadataFile)
	if !exists(path) {
		return []finding{fine("the clock says %s", now.UTC().Format(time.RFC3339))}
	}
	meta, err := bolt.Open(path, bolt.Options{ReadOnly: true})
	switch {
	case errors.Is(err, bolt.ErrLocked):
		return []finding{fine("the clock says %s; the last change is not known while the service is running", now.UTC().Format(time.RFC3339))}
	case err != nil:
		return []finding{problem(fmt.Sprintf("%s check --data %s says more", program, w.data), "the metadata file cannot be opened: %v", err)}
	}
	behind := meta.Health().ClockBehind
	if err := meta.Close(); err != nil {
		return []finding{problem("look at the log of the system for errors of the disk", "the metadata file cannot be closed: %v", err)}
	}
	if behind > clockTolerance {
		return []finding{warning("set the clock; until it has caught up, new changes are dated just after the last one",
			"the clock says %s, %s before the last change", now.UTC().Format(time.RFC3339), commands.FormatDuration(behind))}
	}
	return []finding{fine("the clock says %s, after the last change", now.UTC().Format(time.RFC3339))}
}
