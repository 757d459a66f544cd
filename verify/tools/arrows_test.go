// Package tools_test proves that the linters find what they are there for.
package tools_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// arrows says what each folder may import of everything that some folder must not. The table
// repeats docs/explanation/design.md, not .depguard.yml: a rule that got lost there shows here.
var arrows = map[string]string{
	"auth/admission":                  "",
	"auth":                            "",
	"blobs":                           "digest",
	"blobs/digest":                    "digest",
	"paging":                          "",
	"formats/archive":                 "",
	"web":                             "",
	"auth/errs":                       "",
	"formats/descriptive":             "units",
	"formats/descriptive/units":       "",
	"formats/schemas":                 "",
	"formats/tree":                    "",
	"formats/extraction":              "descriptive units extraction",
	"formats/extraction/inner":        "descriptive units extraction",
	"formats/spreadsheet":             "descriptive units spreadsheet",
	"repository/webhooks":             "net/http",
	"search":                          "search search/query search/words units",
	"search/index":                    "search search/query search/words units",
	"search/query":                    "search search/query search/words units",
	"search/words":                    "",
	"metadata":                        "auth blobs errs paging",
	"repository":                      "admission auth blobs errs paging metadata resumable inline maintenance events hooks indexing instruments webhooks descriptive schemas spreadsheet tree search search/query search/words search/index core describe containers files folders links watch",
	"repository/resumable":            "auth blobs errs paging metadata descriptive",
	"repository/inline":               "auth blobs errs paging metadata descriptive",
	"repository/core":                 "auth errs blobs metadata paging inline",
	"repository/describe":             "descriptive schemas spreadsheet auth errs metadata paging core instruments",
	"repository/containers":           "descriptive auth errs metadata paging core describe hooks",
	"repository/files":                "descriptive tree auth admission errs blobs metadata paging containers core describe inline maintenance resumable",
	"repository/folders":              "tree auth errs metadata paging containers core describe files",
	"repository/links":                "auth admission errs blobs metadata paging containers core describe files folders resumable",
	"repository/watch":                "auth errs metadata paging core events hooks indexing webhooks search search/index search/query",
	"repository/maintenance":          "core auth blobs errs paging metadata descriptive",
	"repository/events":               "auth blobs errs paging metadata descriptive",
	"repository/indexing":             "auth blobs errs paging metadata descriptive search search/query search/words search/index",
	"repository/instruments":          "auth blobs errs paging metadata descriptive extraction",
	"repository/hooks":                "auth blobs errs paging metadata webhooks",
	"repository/internal":             "auth blobs errs paging metadata descriptive",
	"repository/internal/conformance": "blobs errs paging metadata descriptive schemas",
	"metadata/tables":                 "auth blobs errs paging metadata",
	"metadata/groupcommit":            "metadata",
	"bolt":                            "metadata tables groupcommit bolt/fsck bbolt",
	"postgres":                        "metadata tables groupcommit bolt pgx",
	"blobs/s3":                        "blobs net/http minio",
	"handlers":                        "admission auth blobs descriptive errs paging archive metadata repository resumable maintenance events search search/index handlers/inner wire digest net/http zerolog log log/slog",
	"backup":                          "blobs errs metadata repository maintenance bolt tables",
	"docs":                            "",
	"client":                          "wire errs digest net/http",
	"handlers/wire":                   "errs digest",
	"cli/client":                      "docs blobs archive client cli/connection cli/datadir cli/process cli/suggest display exit units cobra pflag isatty",
	"cli/server/demo":                 "auth repository",
	"cli/server/metrics":              "blobs errs metadata repository maintenance bolt groupcommit handlers net/http prometheus",
	"cli":                             "errs metadata bolt backup client cli/client cli/server cli/config cli/connection cli/datadir cli/process cli/server/doctor cli/server/listener cli/suggest display exit demo metrics extraction/child net/http cobra pflag isatty",
	"cli/server":                      "auth blobs errs metadata repository maintenance bolt postgres s3 handlers wire backup client display exit demo metrics web webhooks extraction/child cli/config cli/connection cli/datadir cli/process cli/server/doctor cli/server/listener cli/suggest net/http cobra pflag isatty zerolog log log/slog",
	"cli/process":                     "exit",
	"cli/group":                       "",
	"cli/connection":                  "cli/config cli/process client display exit cobra pflag isatty",
	"cli/config":                      "auth paging repository webhooks display exit cli/suggest cobra pflag isatty toml zerolog log log/slog",
	"cli/datadir":                     "cli/config cobra pflag isatty auth blobs metadata repository maintenance bolt postgres s3 tables backup exit metrics",
	"cli/server/doctor":               "blobs metadata bolt postgres s3 display exit cli/datadir",
	"cli/server/listener":             "handlers",
	"cli/suggest":                     "exit cobra pflag isatty",
	"cli/exit":                        "",
	"cli/display":                     "",
	"cli/logins":                      "",
	"cli/meter":                       "display isatty cobra pflag",
	"main":                            "cli net/http",
	"newroom":                         "cli net/http",
	"cli/newroom":                     "cli net/http",
	"bolt/fsck":                       "bbolt",
	"cli/client/inner":                "docs blobs archive client cli/connection cli/datadir cli/process cli/suggest display exit units cobra pflag isatty",
	"bolt/inner":                      "metadata tables groupcommit bolt/fsck bbolt",
	"internal/servers":                everything,
	"internal/cutproxy":               everything,
	"roomtest":                        everything,
	"blobs/blobstest":                 everything,
	"repository/repositorytest":       everything,
	"metadata/metadatatest":           everything,
	"search/searchtest":               everything,
	"bolt/bolttest":                   everything,
	"handlers/handlerstest":           everything,
	"backup/backuptest":               everything,
	"client/clienttest":               everything,
	"cli/clitest":                     everything,
}

const everything = "everything"

// targets maps each word of the table to its import path.
var targets = map[string]string{
	"admission":           "labshelf/auth/admission",
	"auth":                "labshelf/auth",
	"blobs":               "labshelf/blobs",
	"paging":              "labshelf/paging",
	"archive":             "labshelf/formats/archive",
	"errs":                "labshelf/auth/errs",
	"descriptive":         "labshelf/formats/descriptive",
	"search":              "labshelf/search",
	"search/query":        "labshelf/search/query",
	"search/words":        "labshelf/search/words",
	"search/index":        "labshelf/search/index",
	"units":               "labshelf/formats/descriptive/units",
	"metadata":            "labshelf/metadata",
	"metadatatest":        "labshelf/metadata/metadatatest",
	"repository":          "labshelf/repository",
	"core":                "labshelf/repository/core",
	"describe":            "labshelf/repository/describe",
	"containers":          "labshelf/repository/containers",
	"files":               "labshelf/repository/files",
	"folders":             "labshelf/repository/folders",
	"links":               "labshelf/repository/links",
	"watch":               "labshelf/repository/watch",
	"resumable":           "labshelf/repository/resumable",
	"inline":              "labshelf/repository/inline",
	"maintenance":         "labshelf/repository/maintenance",
	"events":              "labshelf/repository/events",
	"hooks":               "labshelf/repository/hooks",
	"indexing":            "labshelf/repository/indexing",
	"instruments":         "labshelf/repository/instruments",
	"schemas":             "labshelf/formats/schemas",
	"tree":                "labshelf/formats/tree",
	"extraction":          "labshelf/formats/extraction",
	"spreadsheet":         "labshelf/formats/spreadsheet",
	"webhooks":            "labshelf/repository/webhooks",
	"repositorytest":      "labshelf/repository/repositorytest",
	"tables":              "labshelf/metadata/tables",
	"groupcommit":         "labshelf/metadata/groupcommit",
	"bolt":                "labshelf/bolt",
	"postgres":            "labshelf/postgres",
	"s3":                  "labshelf/blobs/s3",
	"bolt/fsck":           "labshelf/bolt/fsck",
	"handlers":            "labshelf/handlers",
	"handlers/inner":      "labshelf/handlers/inner",
	"wire":                "labshelf/handlers/wire",
	"digest":              "labshelf/blobs/digest",
	"backup":              "labshelf/backup",
	"client":              "labshelf/client",
	"cli/client":          "labshelf/cli/client",
	"display":             "labshelf/cli/display",
	"exit":                "labshelf/cli/exit",
	"demo":                "labshelf/cli/server/demo",
	"metrics":             "labshelf/cli/server/metrics",
	"web":                 "labshelf/web",
	"cli":                 "labshelf/cli",
	"cli/config":          "labshelf/cli/config",
	"cli/server":          "labshelf/cli/server",
	"cli/process":         "labshelf/cli/process",
	"cli/connection":      "labshelf/cli/connection",
	"cli/datadir":         "labshelf/cli/datadir",
	"cli/server/doctor":   "labshelf/cli/server/doctor",
	"cli/server/listener": "labshelf/cli/server/listener",
	"cli/suggest":         "labshelf/cli/suggest",
	"bbolt":               "go.etcd.io/bbolt",
	"pgx":                 "github.com/jackc/pgx/v5",
	"minio":               "github.com/minio/minio-go/v7",
	"cobra":               "github.com/spf13/cobra",
	"pflag":               "github.com/spf13/pflag",
	"toml":                "github.com/pelletier/go-toml/v2",
	"isatty":              "github.com/mattn/go-isatty",
	"prometheus":          "github.com/prometheus/client_golang/prometheus",
	"jsonschema":          "github.com/santhosh-tekuri/jsonschema/v6",
	"zerolog":             "github.com/rs/zerolog",
	"log":                 "log",
	"log/slog":            "log/slog",
	"net/http":            "net/http",
}

func TestArrows(t *testing.T) {
	t.Parallel()
	root := moduleTree(t)
	for _, path := range targets {
		if folder, ok := strings.CutPrefix(path, "labshelf/"); ok {
			write(t, filepath.Join(root, folder, "p.go"), "package p\n")
		}
	}
	// The sources stand below a folder of their own, so that no case can make an import cycle with
	// its target.
	for source := range arrows {
		for word, path := range targets {
			text := fmt.Sprintf("package p\n\nimport _ %q\n", path)
			write(t, filepath.Join(root, caseFile(source, word, ".go")), text)
			write(t, filepath.Join(root, caseFile(source, word, "_test.go")), text)
		}
	}
	out := lint(t, root, "depguard", "./...")
	for source, allowed := range arrows {
		for word, path := range targets {
			refused := strings.Contains(out, caseFile(source, word, ".go")+":")
			want := allowed != everything && !slices.Contains(strings.Fields(allowed), word)
			if refused != want {
				t.Errorf("%s imports %s: refused %t, want %t", source, path, refused, want)
			}
		}
	}
	if strings.Contains(out, "_test.go:") {
		t.Error("a test file was refused")
	}
	if t.Failed() {
		t.Log(out)
	}
}

// caseFile names the file below the module's root that holds one import of the table.
func caseFile(source, word, suffix string) string {
	return filepath.Join("arrows", source, "to_"+strings.ReplaceAll(word, "/", "_")+suffix)
}

func TestErrcheckFindsUnsyncedFiles(t *testing.T) {
	t.Parallel()
	root := moduleTree(t)
	write(t, filepath.Join(root, "blobs", "p.go"), `package blobs

import "os"

func f(file *os.File) error {
	defer file.Close()
	file.Sync()
	file.Close()
	os.Remove(file.Name())
	return file.Close()
}
`)
	out := lint(t, root, "errcheck", "./...")
	for line := 6; line <= 9; line++ {
		if !strings.Contains(out, fmt.Sprintf("p.go:%d:", line)) {
			t.Errorf("line %d was not found", line)
		}
	}
	if strings.Count(out, "p.go:") != 4 {
		t.Errorf("want 4 findings:\n%s", out)
	}
}

// moduleTree makes a module labshelf with the rules of this repository, whose outside imports are
// empty packages.
func moduleTree(t *testing.T) string {
	t.Helper()
	// Below a folder of a fixed name: depguard matches whole paths, and a test's own folder may be
	// called anything.
	root := filepath.Join(t.TempDir(), "labshelf")
	rules, err := os.ReadFile(filepath.Join("..", "..", ".depguard.yml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, ".depguard.yml"), string(rules))
	module := "module labshelf\n\ngo 1.26\n"
	for word, path := range targets {
		host, _, ok := strings.Cut(path, "/")
		if !ok || !strings.Contains(host, ".") {
			continue
		}
		folder := filepath.Join("outside", word)
		version := "v1.0.0"
		if major := filepath.Base(path); regexp.MustCompile(`^v\d+$`).MatchString(major) {
			version = major + ".0.0"
		}
		module += fmt.Sprintf("require %s %s\nreplace %s => ./%s\n", path, version, path, filepath.ToSlash(folder))
		write(t, filepath.Join(root, folder, "go.mod"), "module "+path+"\n\ngo 1.26\n")
		write(t, filepath.Join(root, folder, "p.go"), "package p\n")
	}
	write(t, filepath.Join(root, "go.mod"), module)
	return root
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// lint runs one tool of this module in the folder root and returns what it printed. It fails the
// test when the tool did not exit with findings.
func lint(t *testing.T, root, tool string, args ...string) string {
	t.Helper()
	path, err := exec.Command("go", "tool", "-n", tool).Output()
	if err != nil {
		t.Fatalf("build %s: %v", tool, err)
	}
	run := exec.Command(strings.TrimSpace(string(path)), args...)
	run.Dir = root
	out, err := run.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() < 1 {
		t.Fatalf("%s: %v, want findings\n%s", tool, err, out)
	}
	return string(out)
}
