package drive

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"labshelf/internal/servers"
)

// rclone returns the environment variables that define the drive as the remote "d:".
func (d *drive) rclone() []string {
	obscured := strings.TrimSpace(run(d.t, "", nil, "rclone", "obscure", d.Key()))
	return []string{
		"RCLONE_CONFIG=" + filepath.Join(d.t.TempDir(), "none"), "RCLONE_CONFIG_D_TYPE=webdav", "RCLONE_CONFIG_D_URL=" + d.url, "RCLONE_CONFIG_D_VENDOR=other",
		"RCLONE_CONFIG_D_USER=anybody", "RCLONE_CONFIG_D_PASS=" + obscured, "RCLONE_TRANSFERS=8", "RCLONE_CHECKERS=8",
	}
}

// TestRclone copies a tree to the drive, edits it, syncs it, moves it on the service, and copies it
// back. The trees must be equal each time.
func TestRclone(t *testing.T) {
	t.Parallel()
	need(t, "rclone", "diff")
	d := serve(t)
	remote, tree := d.rclone(), makeTree(t, files(t, 300))
	out := func(from string) string {
		to := filepath.Join(t.TempDir(), "out")
		run(t, "", remote, "rclone", "copy", "--create-empty-src-dirs", "d:"+from, to)
		return to
	}
	run(t, "", remote, "rclone", "copy", tree, "d:tree")
	same(t, "copied in and out", tree, out("tree"))
	edit(t, tree)
	run(t, "", remote, "rclone", "sync", "--size-only", tree, "d:tree")
	run(t, "", remote, "rclone", "moveto", "d:tree", "d:new name/below")
	same(t, "edited, synchronised and moved", tree, out("new name/below"))
	if status := d.request("PROPFIND", d.url+"/tree", "", "Depth: 0").Status; status != 404 {
		t.Errorf("the moved folder still exists: status %d", status)
	}
}

// TestRcloneMount tests that files that are copied to a mounted drive, and edited there, are equal
// on the service.
func TestRcloneMount(t *testing.T) {
	t.Parallel()
	need(t, "rclone", "diff", "fusermount3")
	needFuse(t)
	d := serve(t)
	remote, tree, mounted := d.rclone(), makeTree(t, files(t, 60)), filepath.Join(t.TempDir(), "mounted")
	check(t, os.Mkdir(mounted, 0o700))
	d.mountRclone(mounted)
	mountAndEdit(t, d, mounted, tree)
	same(t, "copied by rclone, without the mount", tree, func() string {
		to := filepath.Join(t.TempDir(), "out")
		run(t, "", remote, "rclone", "copy", "d:tree", to)
		return to
	}())
}

// mountRclone mounts the set. rclone uploads each file when it is closed, even after unmount has
// returned.
func (d *drive) mountRclone(mounted string) (unmount func()) {
	d.t.Helper()
	run(d.t, "", append(d.rclone(), "RCLONE_CACHE_DIR="+d.t.TempDir()), "rclone", "mount", "d:", mounted, "--daemon", "--vfs-cache-mode", "writes", "--vfs-write-back", "0s", "--dir-cache-time", "0s")
	d.t.Cleanup(func() { _ = exec.Command("fusermount3", "-u", "-z", mounted).Run() })
	return func() {}
}

// TestDavfs2 does the same as TestRcloneMount with davfs2.
func TestDavfs2(t *testing.T) {
	t.Parallel()
	need(t, "mount.davfs", "diff")
	needFuse(t)
	if os.Geteuid() != 0 {
		servers.Missing(t, "davfs2 needs root")
	}
	d := serve(t)
	tree, mounted := makeTree(t, files(t, 60)), filepath.Join(t.TempDir(), "mounted")
	check(t, os.Mkdir(mounted, 0o700))
	unmount := d.mountDavfs2(mounted, "delay_upload 0\n")
	mountAndEdit(t, d, mounted, tree)
	unmount()
	unmount = d.mountDavfs2(mounted, "delay_upload 0\n")
	same(t, "mounted again", tree, filepath.Join(mounted, "tree"))
	unmount()
}

// mountDavfs2 mounts the set, with additional lines of configuration. unmount waits until all files
// are uploaded.
func (d *drive) mountDavfs2(mounted, more string) (unmount func()) {
	t := d.t
	t.Helper()
	folder := t.TempDir()
	cache, secrets, config := filepath.Join(folder, "cache"), filepath.Join(folder, "secrets"), filepath.Join(folder, "davfs2.conf")
	check(t, os.Mkdir(cache, 0o700))
	check(t, os.Chmod(cache, 0o777)) // the daemon runs as another user
	check(t, os.WriteFile(secrets, fmt.Appendf(nil, "%s anybody %s\n", d.url, d.Key()), 0o600))
	check(t, os.WriteFile(config, fmt.Appendf(nil, "buf_size 256\nask_auth 0\ncache_dir %s\nsecrets %s\n%s", cache, secrets, more), 0o600))
	for above := folder; above != os.TempDir() && above != "/"; above = filepath.Dir(above) {
		check(t, os.Chmod(above, 0o755))
	}
	run(t, "", nil, "mount.davfs", d.url, mounted, "-o", "rw,uid=0,conf="+config)
	t.Cleanup(func() { _ = exec.Command("umount", "-l", mounted).Run() })
	return func() { run(t, "", nil, "umount", mounted) }
}

func needFuse(t *testing.T) {
	t.Helper()
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		servers.Missing(t, err)
	}
	check(t, device.Close())
}

// mountAndEdit copies a tree to a mounted drive, edits both in the same way, and waits until the
// service has all files.
func mountAndEdit(t *testing.T, d *drive, mounted, tree string) {
	t.Helper()
	there := filepath.Join(mounted, "tree")
	check(t, os.CopyFS(there, os.DirFS(tree)))
	same(t, "copied", tree, there)
	edit(t, tree)
	edit(t, there)
	same(t, "edited", tree, there)
	want := 0
	check(t, filepath.WalkDir(tree, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			want++
		}
		return err
	}))
	eventually(t, func() error { return d.rows(want) })
}

// TestCadaver runs a script of cadaver, which puts, renames, copies, locks and gets files.
func TestCadaver(t *testing.T) {
	t.Parallel()
	need(t, "cadaver")
	d := serve(t)
	home, work := t.TempDir(), t.TempDir()
	netrc := fmt.Sprintf("machine 127.0.0.1 login anybody password %s\n", d.Key())
	check(t, os.WriteFile(filepath.Join(home, ".netrc"), []byte(netrc), 0o600))
	check(t, os.WriteFile(filepath.Join(work, "in"), []byte("content of cadaver"), 0o600))
	said := run(t, strings.Join([]string{
		"mkcol folder", "cd folder", "put " + work + "/in first.txt", "lock first.txt", "put " + work + "/in first.txt", "unlock first.txt", "move first.txt second.txt",
		"copy second.txt third.txt", "propset third.txt colour blue", "propget third.txt colour", "cd ..", "move folder moved", "ls moved", "get moved/third.txt " + work + "/out",
		"delete moved/second.txt", "rmcol moved", "ls", "quit",
	}, "\n"), []string{"HOME=" + home}, "cadaver", d.url+"/")
	if got, err := os.ReadFile(filepath.Join(work, "out")); err != nil || string(got) != "content of cadaver" {
		t.Errorf("cadaver got %q, %v", got, err)
	}
	if strings.Contains(said, "failed") || strings.Contains(said, "Could not") || !strings.Contains(said, "blue") || strings.Count(said, "succeeded") < 13 {
		t.Errorf("the output of cadaver:\n%s", said)
	}
	if err := d.rows(0); err != nil {
		t.Error(err)
	}
}

// TestWebdav4 puts, edits and gets a tree with the Python package webdav4.
func TestWebdav4(t *testing.T) {
	t.Parallel()
	need(t, "python3", "diff")
	folder := filepath.Join(t.TempDir(), "venv")
	python := filepath.Join(folder, "bin", "python")
	for _, command := range [][]string{
		{"python3", "-m", "venv", folder}, {python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "webdav4==0.11.0"},
	} {
		if out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
			servers.Missing(t, fmt.Sprintf("%s: %v\n%s", command, err, out))
		}
	}
	throughScript(t, python, "tree.py", makeTree(t, files(t, 60), "%", "?", "#")) // webdav4 does not encode these characters
}

// TestNodeWebdav does the same as TestWebdav4 with the npm package webdav.
func TestNodeWebdav(t *testing.T) {
	t.Parallel()
	need(t, "node", "diff")
	modules, err := filepath.Abs(filepath.Join("..", "..", "..", "web", "package.json"))
	check(t, err)
	if _, err := os.Stat(filepath.Join(filepath.Dir(modules), "node_modules", "webdav")); err != nil {
		servers.Missing(t, err)
	}
	throughScript(t, "node", "tree.mjs", makeTree(t, files(t, 60)), modules)
}

// throughScript runs a script that puts a tree, edits the tree on the drive, and gets it again.
func throughScript(t *testing.T, program, script, tree string, args ...string) {
	t.Helper()
	d := serve(t)
	script, err := filepath.Abs(filepath.Join("testdata", script))
	check(t, err)
	for _, what := range []string{"put", "edited"} {
		out := filepath.Join(t.TempDir(), "out")
		began := time.Now()
		run(t, "", nil, program, append([]string{script, d.url, d.Key(), tree, out}, args...)...)
		t.Logf("%s: %s", what, time.Since(began).Round(time.Millisecond))
		same(t, what, tree, out)
		edit1(t, tree, what)
	}
}

// edit1 calls edit after the first step.
func edit1(t *testing.T, tree, what string) {
	t.Helper()
	if what == "put" {
		edit(t, tree)
	}
}
