package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestUnwritableDirectoryIsProblem(t *testing.T) {
	t.Parallel()
	found, err := examined(t, "/proc/data")
	if err == nil || found["write"].Level != levelProblem || !strings.Contains(found["write"].Found, "/proc") {
		t.Errorf("%v, %+v", err, found["write"])
	}
	if _, tried := found["rename"]; tried {
		t.Error("a later check was still tried")
	}
}

// TestFoldersOnOtherFileSystemAreProblem: folders on another file system than the data directory
// are a problem.
func TestFoldersOnOtherFileSystemAreProblem(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if err := os.Mkdir(filepath.Join(data, "blobs"), 0o700); err != nil {
		t.Fatal(err)
	}
	found := devices(place{data: data, base: "/proc"})
	if len(found) != 1 || found[0].Level != levelProblem || !strings.Contains(found[0].Found, "blobs is on another file system") {
		t.Errorf("%+v", found)
	}
	if found := devices(place{data: data, base: data}); len(found) != 1 || found[0].Level != levelOK {
		t.Errorf("%+v", found)
	}
}

func TestFilesOfOtherOwnersAreFound(t *testing.T) {
	t.Parallel()
	for self, level := range map[int]string{0: levelWarning, 1000: levelProblem} {
		if got := stranger("/data/meta.db", 33, self); got.Level != level || !strings.Contains(got.Found, "/data/meta.db belongs to the user 33") {
			t.Errorf("%d: %+v", self, got)
		}
	}
}

func TestFindMount(t *testing.T) {
	t.Parallel()
	const table = `22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,nobarrier
30 27 0:40 / /srv rw - nfs4 host:/srv rw,vers=4.2
31 27 0:41 / /srv/my\040data ro,noatime shared:3 master:2 - xfs /dev/sdb rw
32 31 0:42 / /srv/my\040data rw - tmpfs tmpfs rw
33 27 0:43 / /srv2 rw
`
	tests := []struct{ path, point, kind, option string }{
		{"/", "/", "ext4", "nobarrier"},
		{"/var/lib", "/", "ext4", "nobarrier"},
		{"/srv", "/srv", "nfs4", "vers=4.2"},
		{"/srv/x", "/srv", "nfs4", "rw"},
		{"/srv/my data/x", "/srv/my data", "tmpfs", "rw"},
		{"/srv2", "/", "ext4", "rw"},
		{"/srv2/x", "/", "ext4", "rw"},
	}
	for _, test := range tests {
		m, ok := findMount(table, test.path)
		if !ok || m.point != test.point || m.kind != test.kind || !strings.Contains(m.options, test.option) {
			t.Errorf("%s: got %+v, %t", test.path, m, ok)
		}
	}
	if m, ok := findMount("garbage - x\n\n", "/"); ok {
		t.Errorf("found %+v in garbage", m)
	}
}

func TestJudgeMount(t *testing.T) {
	t.Parallel()
	tests := []struct {
		kind, options string
		levels        []string
		says          string
	}{
		{"ext4", "rw,relatime", []string{levelOK}, "ext4"},
		{"xfs", "rw", []string{levelOK}, "xfs"},
		{"btrfs", "rw", []string{levelOK}, "btrfs"},
		{"nfs4", "rw", []string{levelWarning}, "network share"},
		{"9p", "rw", []string{levelWarning}, "network share"},
		{"fuse.sshfs", "rw", []string{levelWarning}, "network share"},
		{"fuse.other", "rw", []string{levelWarning}, "a program between"},
		{"fuseblk", "rw", []string{levelWarning}, "a program between"},
		{"overlay", "rw", []string{levelWarning}, "deleted with the container"},
		{"tmpfs", "rw", []string{levelWarning}, "lost at the next restart"},
		{"vfat", "rw", []string{levelProblem}, "neither a journal"},
		{"ext4", "rw,nobarrier", []string{levelOK, levelProblem}, "ext4"},
		{"ext4", "rw,barrier=0", []string{levelOK, levelProblem}, "ext4"},
		{"nfs", "ro", []string{levelWarning, levelProblem}, "network share"},
	}
	for _, test := range tests {
		got := judgeMount(mount{"/srv", test.kind, test.options})
		if len(got) != len(test.levels) {
			t.Errorf("%s %s: %+v", test.kind, test.options, got)
			continue
		}
		for i, f := range got {
			if f.Level != test.levels[i] || f.Level != levelOK && f.Do == "" || i == 0 && !strings.Contains(f.Found, test.says) {
				t.Errorf("%s %s: %+v", test.kind, test.options, f)
			}
		}
	}
}

func TestJudgeKernel(t *testing.T) {
	t.Parallel()
	tests := []struct{ release, kind, level string }{
		{"4.19.0-27-amd64", "ext4", levelOK},
		{"5.9.16", "ext4", levelOK},
		{"5.10.0-30-amd64", "ext4", levelWarning},
		{"5.10.93", "ext4", levelWarning},
		{"5.10.93", "xfs", levelOK},
		{"5.10.94", "ext4", levelOK},
		{"5.11.0", "ext4", levelWarning},
		{"5.14.21-150500-default", "ext4", levelWarning},
		{"5.15.26", "ext4", levelWarning},
		{"5.15.27", "ext4", levelOK},
		{"5.15.153.1-microsoft-standard-WSL2", "ext4", levelOK},
		{"5.16.20", "ext4", levelWarning},
		{"5.17.0", "ext4", levelOK},
		{"5.17-rc8", "ext4", levelOK},
		{"6.18.44", "ext4", levelOK},
		{"strange", "ext4", levelWarning},
	}
	for _, test := range tests {
		if got := judgeKernel(test.release, test.kind); got.Level != test.level {
			t.Errorf("%s on %s: %+v", test.release, test.kind, got)
		}
	}
}

func TestJudgeSpace(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	tests := []struct {
		free, all, freeFiles, allFiles uint64
		levels                         []string
	}{
		{50 * gib, 100 * gib, 500, 1000, []string{levelOK}},
		{50 * gib, 100 * gib, 0, 0, []string{levelOK}}, // btrfs does not report a number of files
		{4 * gib, 100 * gib, 500, 1000, []string{levelWarning}},
		{5 * gib, 100 * gib, 500, 1000, []string{levelOK}},
		{gib - 1, 2 * gib, 500, 1000, []string{levelWarning}},
		{50 * gib, 100 * gib, 49, 1000, []string{levelOK, levelWarning}},
		{0, 100 * gib, 0, 1000, []string{levelWarning, levelWarning}},
	}
	for _, test := range tests {
		var levels []string
		for _, f := range judgeSpace(test.free, test.all, test.freeFiles, test.allFiles) {
			levels = append(levels, f.Level)
		}
		if strings.Join(levels, " ") != strings.Join(test.levels, " ") {
			t.Errorf("%+v: %v", test, levels)
		}
	}
}
