package testhome_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"labshelf/internal/testhome"
)

func TestMain(m *testing.M) { testhome.Main(m) }

// report names the variable with the path of the file to which a child writes its report.
const report = "TESTHOME_REPORT"

// seen is the environment as a test binary sees it.
type seen struct {
	Home, Config, Cache string
	Environ             []string
	Go                  map[string]string // from go env
}

func look(t *testing.T) (s seen) {
	t.Helper()
	var errs [3]error
	s.Home, errs[0] = os.UserHomeDir()
	s.Config, errs[1] = os.UserConfigDir()
	s.Cache, errs[2] = os.UserCacheDir()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := exec.Command("go", "env", "-json", "GOENV", "GOCACHE", "GOPATH", "GOMODCACHE", "GOPRIVATE").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &s.Go); err != nil {
		t.Fatal(err)
	}
	s.Environ = os.Environ()
	return s
}

// TestOwnHome runs the test binary like a person with settings. It sees none of them, and the go
// command works as before.
func TestOwnHome(t *testing.T) {
	if path := os.Getenv(report); path != "" {
		text, err := json.Marshal(look(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Parallel()
	person, path := t.TempDir(), filepath.Join(t.TempDir(), "report")
	child := exec.Command(os.Args[0], "-test.run=^TestOwnHome$")
	child.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + person, "USERPROFILE=" + person, "AppData=" + person, "LocalAppData=" + person,
		"XDG_CONFIG_HOME=" + person, "XDG_CACHE_HOME=" + person, "XDG_DATA_HOME=" + person, "XDG_STATE_HOME=" + person,
		"LABSHELF_KEY=canary", "LABSHELF_SERVER=canary", "LABSHELF_CONFIG=canary", "PGHOST=canary", "PGPASSFILE=canary",
		"AWS_PROFILE=canary", "NOTIFY_SOCKET=canary", "RCLONE_CONFIG=canary", report + "=" + path,
	}
	if err := os.MkdirAll(filepath.Join(person, "go", "telemetry"), 0o700); err != nil {
		t.Fatal(err)
	}
	// A go command with telemetry writes its counters after its end, when this test may be over.
	if err := os.WriteFile(filepath.Join(person, "go", "telemetry", "mode"), []byte("off 2026-01-01\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(person, "go", "env"), []byte("GOPRIVATE=example.org\nGOPATH="+filepath.Join(person, "elsewhere")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got seen
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{got.Home, got.Config, got.Cache} {
		if strings.HasPrefix(dir, person) {
			t.Errorf("a test sees the person's folder %s", dir)
		}
	}
	for _, pair := range got.Environ {
		if strings.Contains(pair, "canary") {
			t.Errorf("a test sees %s", pair)
		}
	}
	want := map[string]string{
		"GOENV": filepath.Join(person, "go", "env"), "GOCACHE": filepath.Join(person, "go-build"), "GOPRIVATE": "example.org",
		"GOPATH": filepath.Join(person, "elsewhere"), "GOMODCACHE": filepath.Join(person, "elsewhere", "pkg", "mod"),
	}
	for name, value := range want {
		if got.Go[name] != value {
			t.Errorf("%s is %s, want %s", name, got.Go[name], value)
		}
	}
	entries, err := os.ReadDir(person)
	if err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != "go" }) {
		t.Errorf("written to the person's home: %v, %v", entries, err)
	}
}
