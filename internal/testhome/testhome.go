// Package testhome separates tests from the person who runs them. A test binary that imports it
// starts with a home directory, folders for configuration, caches and data, and an environment of
// its own:
//
//	import _ "labshelf/internal/testhome"
//
// The home directory does not exist until something writes to it. A package whose tests write
// there, or start programs that do, has Main as its TestMain, or calls Remove at the end of its
// own. In programs other than test binaries the package does nothing.
package testhome

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// marker names the variable that contains the home directory of the tests. A process that inherits
// it keeps its environment, because a test has prepared it.
const marker = "TESTHOME"

// foreign lists the prefixes of variables that configure labshelf, its servers, tested clients, or
// the person's sessions and services.
var foreign = []string{
	"LABSHELF_", "PG", "AWS_", "MINIO_", "RCLONE_", "XDG_CONFIG_", "XDG_CACHE_", "XDG_DATA_", "XDG_STATE_",
	"NOTIFY_SOCKET", "WATCHDOG_", "LISTEN_",
}

// home is the path of the home directory that this process has created, or "". It is initialized
// before all tests and TestMain, so that no package can forget a call.
var home = begin()

func begin() string {
	if !testing.Testing() || os.Getenv(marker) != "" || playsRole(os.Args) {
		return ""
	}
	home := filepath.Join(os.TempDir(), "labshelf-test-"+rand.Text())
	keepGo()
	isolate(home)
	closeInherited()
	return home
}

// playsRole reports whether a test has started this binary as the program, or as another child with
// special arguments. Such a child runs in the environment that the test has set, even an empty one.
func playsRole(args []string) bool {
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	return name == "labshelf" || len(args) > 1 && !strings.HasPrefix(args[1], "-")
}

// isolate replaces the home directory and removes the variables with the prefixes in foreign.
func isolate(home string) {
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if slices.ContainsFunc(foreign, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			_ = os.Unsetenv(name) // fails only for invalid names
		}
	}
	set(marker, home)
	for _, name := range []string{"HOME", "USERPROFILE", "home"} { // on Unix, Windows, Plan 9
		set(name, home)
	}
	set("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	set("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	set("XDG_DATA_HOME", filepath.Join(home, "data"))
	set("XDG_STATE_HOME", filepath.Join(home, "state"))
	set("AppData", filepath.Join(home, "config"))
	set("LocalAppData", filepath.Join(home, "cache"))
}

// keepGo keeps the settings, modules, build cache and counters of the go command, because tests
// build programs.
func keepGo() {
	settings := ""
	if dir, err := os.UserConfigDir(); err == nil {
		path := filepath.Join(dir, "go", "env")
		text, _ := os.ReadFile(path) // a missing file is treated as empty
		settings = "\n" + string(text)
		keep("GOENV", path, "")
		keep("TEST_TELEMETRY_DIR", filepath.Join(dir, "go", "telemetry"), "") // the command writes its counters after its end
	}
	if dir, err := os.UserCacheDir(); err == nil {
		keep("GOCACHE", filepath.Join(dir, "go-build"), settings)
	}
	if dir, err := os.UserHomeDir(); err == nil {
		keep("GOPATH", filepath.Join(dir, "go"), settings)
	}
}

// keep sets a variable of the go command to its default, unless the environment or the settings
// contain a value.
func keep(name, value, settings string) {
	if os.Getenv(name) == "" && !strings.Contains(settings, "\n"+name+"=") {
		set(name, value)
	}
}

func set(name, value string) {
	if err := os.Setenv(name, value); err != nil {
		panic(err)
	}
}

// Remove removes the files that the tests have written to their home directory. It does nothing in
// a child that has the home directory of its parent.
func Remove() error {
	if home == "" {
		return nil
	}
	return os.RemoveAll(home)
}

// Main runs the tests of a package, removes their home directory, and exits.
func Main(m *testing.M) {
	code := m.Run()
	if err := Remove(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
