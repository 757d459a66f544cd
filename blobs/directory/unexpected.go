package directory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"labshelf/blobs"
)

// Unexpected implements [blobs.Inspector].
func (d *Store) Unexpected(ctx context.Context, fn func(path, why string) error) error {
	return d.eachEntry(ctx, d.blobs, func(path string, info fs.FileInfo) error {
		if isWatermark(info) {
			if why := wrongMode(info, fileMode); why != "" {
				return fn(path, why)
			}
			return nil
		}
		first, why := unexpectedFolder(info)
		if why != "" {
			if err := fn(path, why); err != nil {
				return err
			}
		}
		if first < 0 {
			return nil
		}
		return d.eachEntry(ctx, path, func(path string, info fs.FileInfo) error {
			if why := unexpectedFile(byte(first), info); why != "" {
				return fn(path, why)
			}
			return nil
		})
	})
}

// eachEntry calls fn for each entry of a directory.
func (d *Store) eachEntry(ctx context.Context, dir string, fn func(path string, info fs.FileInfo) error) error {
	entries, err := d.list(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(dir, entry.Name())
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since the folder was read
		}
		if err != nil {
			return failed("look at a file", err)
		}
		if err := fn(path, info); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// unexpectedFolder returns the first byte of the digests in a folder, or a negative number, and the
// problem of the folder.
func unexpectedFolder(info fs.FileInfo) (first int, why string) {
	var number byte
	_, err := fmt.Sscanf(info.Name(), "%02x", &number)
	switch {
	case err != nil || info.Name() != fmt.Sprintf("%02x", number):
		return -1, "it is not named as a folder of blobs"
	case !info.IsDir():
		return -1, "it is not a folder"
	}
	return int(number), wrongMode(info, dirMode)
}

// unexpectedFile returns the problem of a file in the folder of a first byte, or "".
func unexpectedFile(first byte, info fs.FileInfo) string {
	digest, err := blobs.ParseDigest(info.Name())
	switch {
	case err != nil || digest.String() != info.Name():
		return "it is not named by a digest"
	case digest[0] != first:
		return "it is in the wrong folder"
	case !info.Mode().IsRegular():
		return "it is not a regular file"
	}
	return wrongMode(info, fileMode)
}

func wrongMode(info fs.FileInfo, want fs.FileMode) string {
	if got := info.Mode().Perm(); hasModes && got != want {
		return fmt.Sprintf("it has mode %04o, not %04o", got, want)
	}
	return ""
}
