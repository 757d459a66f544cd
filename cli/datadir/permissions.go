package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"labshelf/metadata"
)

// WrongModes lists the entries of the data directory whose permissions differ from those that the
// service sets. It excludes blobs/, which package blobs checks, and the configuration, which
// contains no secret. The directory itself counts only if other users can write to it.
func WrongModes(data string) (wrong []metadata.Violation) {
	if runtime.GOOS == "windows" {
		return nil
	}
	for _, name := range []string{".", MetadataFile, KeyFile, IndexFolder, "blobs", "tmp", "parts", "trash"} {
		info, err := os.Stat(filepath.Join(data, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		v := metadata.Violation{Part: metadata.PartFiles, Kind: "file", Name: name}
		want := fs.FileMode(0o600)
		if err == nil && info.IsDir() {
			v.Kind, want = "folder", 0o700
		}
		switch {
		case err != nil:
			v.Wrong = fmt.Sprintf("it cannot be examined: %v", err)
		case name == "." && info.Mode().Perm()&0o022 == 0:
			continue
		case info.Mode().Perm() != want:
			v.Wrong = fmt.Sprintf("it has mode %04o, not %04o", info.Mode().Perm(), want)
		default:
			continue
		}
		wrong = append(wrong, v)
	}
	return wrong
}
