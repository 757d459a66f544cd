// Command missing lists the tools that tests need and this machine lacks, and the tests that are
// skipped.
//
//	go -C verify run ./missing             list for people
//	go -C verify run ./missing -packages   Debian packages with the missing tools
//
// Tests without their tool are skipped; with CI=true they fail. With CI=true, this command fails,
// too, if a tool is missing.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// need is a tool or a right that tests need.
type need struct {
	packages string // Debian packages; "": no package contains it
	found    func() bool
	what     string // name of the tool or right
	untried  string // tests that are skipped without it
}

// program returns a function that reports whether a program is installed.
func program(name string) func() bool {
	return func() bool {
		_, err := exec.LookPath(name)
		return err == nil
	}
}

// runs returns a function that reports whether a command succeeds.
func runs(command ...string) func() bool {
	return func() bool { return exec.Command(command[0], command[1:]...).Run() == nil }
}

// matches returns a function that reports whether a path matches the pattern.
func matches(pattern string) func() bool {
	return func() bool {
		found, err := filepath.Glob(pattern)
		return err == nil && len(found) > 0
	}
}

// needs lists all needs, in the order in which their packages are printed.
var needs = []need{
	{"git", program("git"), "git", "mutants"},
	{"curl", program("curl"), "curl", "the commands of the README and of the documentation"},
	{"unzip", program("unzip"), "unzip", "archives, by another program"},
	{"default-jdk-headless", program("jar"), "jar of a JDK", "archives, by a program that reads a stream"},
	{"python3", program("python3"), "Python", "comparisons with other programs, the verification of the audit log"},
	{"python3-venv", runs("python3", "-c", "import ensurepip, venv"), "venv of Python", "webhooks and schemas, by independent implementations"},
	{"openssl", program("openssl"), "openssl", "certificates"},
	{"w3m", program("w3m"), "w3m", "pages without JavaScript"},
	{"gcc libc6-dev", program("gcc"), "a C compiler", "data races"},
	{"e2fsprogs", program("mkfs.ext4"), "mkfs.ext4", "power cuts and full disks on ext4"},
	{"xfsprogs", program("mkfs.xfs"), "mkfs.xfs", "power cuts on XFS"},
	{"fuse3", program("fusermount3"), "FUSE", "I/O errors at each call, the mounted drive"},
	{"nodejs npm", program("npm"), "npm", "types of the pages, accessibility, clients in JavaScript"},
	{"zsh", program("zsh"), "zsh", "completion in zsh"},
	{"fish", program("fish"), "fish", "completion in fish"},
	{"chromium", program("chromium"), "Chromium", "the pages, as people use them"},
	{"chromium-headless-shell", program("chromium-headless-shell"), "Chromium without a window", "nothing; tests of the pages take twice as long"},
	{"litmus", program("litmus"), "litmus", "the drive, by an independent test suite"},
	{"cadaver", program("cadaver"), "cadaver", "the drive, by cadaver"},
	{"davfs2", program("mount.davfs"), "davfs2", "the drive, mounted"},
	{"rclone", program("rclone"), "rclone", "the drive, by rclone"},
	{"postgresql", matches("/usr/lib/postgresql/*/bin/initdb"), "PostgreSQL", "clusters"},
	{"", func() bool { return os.Geteuid() == 0 }, "root rights", "file systems that are full or cut off, users and mounts"},
	{"", matches("/dev/loop-control"), "loop devices", "power cuts and full disks"},
	{"", matches("/dev/fuse"), "the device of FUSE", "I/O errors at each call, the mounted drive"},
}

func main() {
	packages := flag.Bool("packages", false, "print only the missing Debian packages")
	flag.Parse()
	missing := slices.DeleteFunc(slices.Clone(needs), func(n need) bool { return n.found() })
	if *packages {
		for _, n := range missing {
			if n.packages != "" {
				fmt.Println(n.packages)
			}
		}
		return
	}
	for _, n := range missing {
		from := ""
		if n.packages != "" {
			from = " (apt install " + n.packages + ")"
		}
		fmt.Printf("not tested without %s%s: %s\n", n.what, from, n.untried)
	}
	switch {
	case len(missing) == 0:
		fmt.Println("nothing is missing: all tests run")
	case runtime.GOOS != "linux":
		fmt.Println("some of these exist only on Linux")
	}
	if len(missing) > 0 && strings.EqualFold(os.Getenv("CI"), "true") {
		os.Exit(1)
	}
}
