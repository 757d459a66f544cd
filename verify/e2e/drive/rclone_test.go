package drive

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRcloneSends tests rclone with the settings for ownCloud and Nextcloud. It must send only
// changed files, keep modification times, and find files that differ only in content.
func TestRcloneSends(t *testing.T) {
	t.Parallel()
	need(t, "rclone", "diff")
	for _, vendor := range []string{"owncloud", "nextcloud"} {
		t.Run(vendor, func(t *testing.T) {
			t.Parallel()
			d := serve(t)
			remote, tree := append(d.rclone(), "RCLONE_CONFIG_D_VENDOR="+vendor), makeTree(t, files(t, 60))
			first, second := filepath.Join(tree, "plain.txt"), filepath.Join(tree, "with space.txt")
			long := time.Date(2003, 4, 5, 6, 7, 8, 0, time.UTC)
			write := func(path, content string, at time.Time) {
				check(t, os.WriteFile(path, []byte(content), 0o600))
				check(t, os.Chtimes(path, at, at))
			}
			write(first, "one", long)
			write(second, "two", long)
			sync := func(args ...string) string {
				return run(t, "", remote, "rclone", append([]string{"sync", "-v", tree, "d:tree"}, args...)...)
			}
			nothing := func(what string) {
				t.Helper()
				if said := sync(); !strings.Contains(said, "There was nothing to transfer") || strings.Contains(said, "Updated modification time") {
					t.Errorf("%s, rclone sends changes:\n%s", what, tail(said))
				}
			}
			sync()
			nothing("after the tree was sent")
			write(first, "ONE", long.Add(time.Minute))
			if said := sync(); strings.Count(said, "Copied (replaced existing)") != 1 {
				t.Errorf("after an edit of the same size, rclone does not send exactly this file:\n%s", tail(said))
			}
			write(second, "TWO", long)
			if said, differ := d.differences(remote, tree); !differ || !strings.Contains(said, "1 differences found") {
				t.Errorf("the output of rclone check:\n%s", tail(said))
			}
			if said := sync("--checksum"); strings.Count(said, "Copied (replaced existing)") != 1 {
				t.Errorf("after an edit with the same size and time, rclone --checksum does not send exactly this file:\n%s", tail(said))
			}
			check(t, os.Chtimes(first, long, long))
			sync() // sends the time; rclone before 1.64 sends the file
			nothing("after the time was changed")
			run(t, "", remote, "rclone", "moveto", "d:tree", "d:moved")
			run(t, "", remote, "rclone", "copy", "d:moved", "d:tree")
			nothing("after the tree was moved and copied on the service")
			out := filepath.Join(t.TempDir(), "out")
			run(t, "", remote, "rclone", "copy", "d:tree", out)
			same(t, "copied out", tree, out)
			sameTimes(t, tree, out)
			if said, differ := d.differences(remote, tree); differ || strings.Contains(said, "could not be checked") {
				t.Errorf("the output of rclone check:\n%s", tail(said))
			}
		})
	}
}

// differences reports whether rclone finds differences between a tree and its copy on the drive.
func (d *drive) differences(remote []string, tree string) (said string, differ bool) {
	d.t.Helper()
	cmd := exec.CommandContext(d.t.Context(), "rclone", "check", tree, "d:tree")
	cmd.Env = append(os.Environ(), remote...)
	out, err := cmd.CombinedOutput()
	return string(out), err != nil
}

func sameTimes(t *testing.T, a, b string) {
	t.Helper()
	check(t, filepath.WalkDir(a, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		below, err := filepath.Rel(a, path)
		check(t, err)
		one, err := os.Stat(path)
		check(t, err)
		other, err := os.Stat(filepath.Join(b, below))
		check(t, err)
		if !one.ModTime().Truncate(time.Second).Equal(other.ModTime()) {
			t.Errorf("%s has the time %s on the drive, want %s", below, other.ModTime(), one.ModTime())
		}
		return nil
	}))
}

// TestRcloneChecksOthers tests that rclone check compares files whose checksums the service has not
// computed yet.
func TestRcloneChecksOthers(t *testing.T) {
	t.Parallel()
	need(t, "rclone")
	d := serve(t)
	tree := filepath.Join(t.TempDir(), "tree")
	check(t, os.Mkdir(tree, 0o700))
	check(t, os.WriteFile(filepath.Join(tree, "short"), []byte("short"), 0o600))
	check(t, os.WriteFile(filepath.Join(tree, "long"), bytes.Repeat([]byte("long"), 1<<20), 0o600))
	remote := append(d.rclone(), "RCLONE_CONFIG_D_VENDOR=owncloud")
	run(t, "", d.rclone(), "rclone", "copy", tree, "d:tree") // with another vendor, to upload without checksums
	if said, differ := d.differences(remote, tree); differ || !strings.Contains(said, "2 matching files") || strings.Contains(said, "could not be checked") {
		t.Errorf("the output of rclone check:\n%s", tail(said))
	}
	check(t, os.WriteFile(filepath.Join(tree, "long"), bytes.Repeat([]byte("LONG"), 1<<20), 0o600))
	if said, differ := d.differences(remote, tree); !differ {
		t.Errorf("the output of rclone check:\n%s", tail(said))
	}
}

// TestRcloneBisync tests that bisync keeps a folder and the drive equal after changes on both
// sides.
func TestRcloneBisync(t *testing.T) {
	t.Parallel()
	need(t, "rclone", "diff")
	d := serve(t)
	remote, tree, work := append(d.rclone(), "RCLONE_CONFIG_D_VENDOR=owncloud"), makeTree(t, files(t, 40)), t.TempDir()
	write := func(content string) string {
		path := filepath.Join(t.TempDir(), "f")
		check(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	both := func(args ...string) {
		t.Helper()
		run(t, "", remote, "rclone", slices.Concat([]string{"bisync", tree, "d:tree", "--workdir", work}, args)...)
		out := filepath.Join(t.TempDir(), "out")
		run(t, "", remote, "rclone", "copy", "d:tree", out)
		same(t, "both sides", tree, out)
	}
	run(t, "", remote, "rclone", "mkdir", "d:tree")
	both("--resync")
	both()
	check(t, os.WriteFile(filepath.Join(tree, "plain.txt"), []byte("changed here"), 0o600))
	run(t, "", remote, "rclone", "copyto", write("changed there"), "d:tree/with space.txt")
	run(t, "", remote, "rclone", "copyto", write("new there"), "d:tree/new")
	check(t, os.Remove(filepath.Join(tree, "hash#tag.txt")))
	both()
	for path, want := range map[string]string{"plain.txt": "changed here", "with space.txt": "changed there", "new": "new there"} {
		if got, err := os.ReadFile(filepath.Join(tree, path)); err != nil || string(got) != want {
			t.Errorf("%s has %q, %v", path, got, err)
		}
	}
}
