package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// sums lists the other files of WEB/vendor with their digests, in the format of sha256sum.
const sums = "SHA256SUMS"

// verifyVendor returns an error unless WEB/vendor contains exactly the listed files, unchanged.
func verifyVendor(web string) error {
	vendor := os.DirFS(filepath.Join(web, "vendor"))
	list, err := fs.ReadFile(vendor, sums)
	if err != nil {
		return err
	}
	wanted := map[string]string{}
	for line := range strings.Lines(string(list)) {
		sum, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok {
			return fmt.Errorf("%s: %q is not a line of sha256sum", sums, line)
		}
		wanted[path] = sum
	}
	var wrong []error
	err = fs.WalkDir(vendor, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path == sums {
			return err
		}
		content, err := fs.ReadFile(vendor, path)
		if sum := fmt.Sprintf("%x", sha256.Sum256(content)); err == nil && sum != wanted[path] {
			wrong = append(wrong, fmt.Errorf("vendor/%s differs from its digest in vendor/%s", path, sums))
		}
		delete(wanted, path)
		return err
	})
	for path := range wanted {
		wrong = append(wrong, fmt.Errorf("vendor/%s is missing", path))
	}
	return errors.Join(append(wrong, err)...)
}
