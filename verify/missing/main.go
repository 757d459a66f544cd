// Command missing lists what tests need and this machine lacks, and what is not tried without it.
//
//	go -C verify run ./missing             what is missing, for people
//	go -C verify run ./missing -packages   the Debian packages that bring it
//
// Tests that need something which is missing are skipped, and fail where CI=true. So does this
// command.
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

// need is something that tests use.
type need struct {
	packages string // of Debian; "": no package brings it
	found    func() bool
	what     string // is missing
	untried  string // without it
}

// program finds a program by its name.
func program(name string) func() bool {
	return func() bool {
		_, err := exec.LookPath(name)
		return err == nil
	}
}

// runs reports whether a command succeeds.
func runs(command ...string) func() bool {
	return func() bool { return exec.Command(command[0], command[1:]...).Run() == nil }
}

// matches reports whether a path exists.
func matches(pattern string) func() bool {
	return func() bool {
		found, err := filepath.Glob(pattern)
		return err == nil && len(found) > 0
	}
}

// needs is everything, in the order of Debian packages.
var needs = []need{
	{"git", program("git"), "git", "faults made on purpose"},
	{"curl", program("curl"), "curl", "the commands of the README and of the documentation"},
	{"unzip", program("unzip"), "unzip", "archives, by another program"},
	{"default-jdk-headless", program("jar"), "jar of a JDK", "archives, by a program that reads a stream"},
	{"python3", program("python3"), "Python", "comparisons with programs of others, the verification of the audit log"},
	{"python3-venv", runs("python3", "-c", "import ensurepip, venv"), "venv of Python", "webhooks and schemas, by implementations of others"},
	{"openssl", program("openssl"), "openssl", "certificates"},
	{"w3m", program("w3m"), "w3m", "pages without a script"},
	{"gcc libc6-dev", program("gcc"), "a C compiler", "data races"},
	{"e2fsprogs", program("mkfs.ext4"), "mkfs.ext4", "power cuts and full disks on ext4"},
	{"xfsprogs", program("mkfs.xfs"), "mkfs.xfs", "power cuts on XFS"},
	{"fuse3", program("fusermount3"), "FUSE", "I/O errors at each call, the mounted drive"},
	{"nodejs npm", program("npm"), "npm", "types of the pages, accessibility, clients in JavaScript"},
	{"zsh", program("zsh"), "zsh", "completion in zsh"},
	{"fish", program("fish"), "fish", "completion in fish"},
	{"chromium", program("chromium"), "Chromium", "the pages, as people use them"},
	{"chromium-headless-shell", program("chromium-headless-shell"), "Chromium without a window", "nothing; tests of the pages take twice as long"},
	{"litmus", program("litmus"), "litmus", "the drive, by a suite of others"},
	{"cadaver", program("cadaver"), "cadaver", "the drive, by cadaver"},
	{"davfs2", program("mount.davfs"), "davfs2", "the drive, mounted"},
	{"rclone", program("rclone"), "rclone", "the drive, by rclone"},
	{"postgresql", matches("/usr/lib/postgresql/*/bin/initdb"), "PostgreSQL", "clusters"},
	{"", func() bool { return os.Geteuid() == 0 }, "root rights", "file systems that are full or cut off, users and mounts"},
	{"", matches("/dev/loop-control"), "loop devices", "power cuts and full disks"},
	{"", matches("/dev/fuse"), "the device of FUSE", "I/O errors at each call, the mounted drive"},
}

func main() {
	packages := flag.Bool("packages", false, "print the Debian packages that are missing, and nothing else")
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
		fmt.Printf("not tried without %s%s: %s\n", n.what, from, n.untried)
	}
	switch {
	case len(missing) == 0:
		fmt.Println("nothing is missing: all tests run")
	case runtime.GOOS != "linux":
		fmt.Println("some of it exists on Linux only")
	}
	if len(missing) > 0 && strings.EqualFold(os.Getenv("CI"), "true") {
		os.Exit(1)
	}
}
