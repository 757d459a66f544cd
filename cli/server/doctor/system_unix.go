//go:build unix

package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// fewDescriptors is the limit at which many clients at the same time run out of descriptors.
const fewDescriptors = 1024

// owners checks whether the files belong to the current user.
func owners(w place) []Finding {
	paths := w.ownedPaths()
	if len(paths) == 0 {
		return nil
	}
	var found []Finding
	for _, path := range paths {
		stat, err := statOf(path)
		if err != nil || int(stat.Uid) == os.Geteuid() {
			continue // the examination of permissions reports this error
		}
		found = append(found, stranger(path, int(stat.Uid), os.Geteuid()))
	}
	if len(found) == 0 {
		return []Finding{fine("the data belong to the user %d, who runs this command", os.Geteuid())}
	}
	return some(found)
}

// stranger reports a file that does not belong to the current user.
func stranger(path string, owner, self int) Finding {
	if self == 0 {
		return warning("run this command, and the service, as the owner of the files", "%s belongs to the user %d, and this command runs as root", path, owner)
	}
	return problem(fmt.Sprintf("chown %d %s, or run this command as the user that runs the service", self, path),
		"%s belongs to the user %d, and this command runs as %d", path, owner, self)
}

// devices checks whether files can be renamed between the folders.
func devices(w place) []Finding {
	first, err := statOf(w.base)
	if err != nil {
		return []Finding{problem("check who may read the folders above it", "%s cannot be examined: %v", w.base, err)}
	}
	var found []Finding
	for _, name := range []string{"tmp", "parts", "blobs", "trash", filepath.Join("blobs", "00"), filepath.Join("blobs", "ff")} {
		stat, err := statOf(filepath.Join(w.data, name))
		if err == nil && stat.Dev != first.Dev {
			found = append(found, problem("keep the whole data directory on one file system: mount that file system at "+w.data,
				"%s is on another file system than %s", filepath.Join(w.data, name), w.base))
		}
	}
	if len(found) == 0 {
		return []Finding{fine("all folders are on one file system")}
	}
	return found
}

// openFiles checks how many files and connections the process may open.
func openFiles(place) []Finding {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return []Finding{warning("", "the limit of open files is unknown: %v", err)}
	}
	if limit.Cur < fewDescriptors {
		return []Finding{warning("raise it: ulimit -n 65536, or LimitNOFILE=65536 for systemd",
			"only %d files and connections can be open at a time", limit.Cur)}
	}
	return []Finding{fine("%d files and connections can be open at a time", limit.Cur)}
}

func statOf(path string) (*syscall.Stat_t, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, fmt.Errorf("%s: the system does not report it", path)
	}
	return stat, nil
}
