package server

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"labshelf/cli/connection"
	"labshelf/cli/exit"
	"labshelf/cli/process"
)

func placeFrom(t *testing.T, args []string, environ ...string) (place, error) {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	addPlaceFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return placeOf(flags, process.Process{Environ: environ, Err: io.Discard})
}

func TestPlaceFromFlagsAndEnvironment(t *testing.T) {
	t.Parallel()
	mine := write(t, "key", "lsk_file\n")
	const key = "LABSHELF_KEY=lsk_environment"
	tests := []struct {
		name       string
		args       []string
		environ    []string
		data, base string
		wrong      string // part of the usage error
	}{
		{name: "data", args: []string{"--data", "d"}, data: "d"},
		{name: "data and a key", args: []string{"--data", "d"}, environ: []string{key}, data: "d"},
		{name: "default server", environ: []string{key}, base: connection.DefaultServer},
		{name: "the service's own data do not count", environ: []string{key, "LABSHELF_DATA=d"}, base: connection.DefaultServer},
		{name: "server without /v1", environ: []string{key, "LABSHELF_SERVER=https://a.example/shelf/"}, base: "https://a.example/shelf/v1"},
		{name: "server with a slash", environ: []string{key, "LABSHELF_SERVER=https://a.example/v1/"}, base: "https://a.example/v1"},
		{name: "server of a page", environ: []string{key, "LABSHELF_SERVER=https://a.example/shelf/sets/01JD2Q0V7H3M8N4T5R6W7X8YA0?folder=x"}, base: "https://a.example/shelf/v1"},
		{name: "server of the search", environ: []string{key, "LABSHELF_SERVER=https://a.example/search?q=ice#x"}, base: "https://a.example/v1"},
		{name: "server of the environment", environ: []string{key, "LABSHELF_SERVER=https://a.example/v1"}, base: "https://a.example/v1"},
		{name: "server of the flag", args: []string{"--server", "https://b.example/x/v1"},
			environ: []string{key, "LABSHELF_SERVER=https://a.example/v1"}, base: "https://b.example/x/v1"},
		{name: "key file", args: []string{"--key-file", mine}, base: connection.DefaultServer},
		{name: "no key", wrong: "set LABSHELF_KEY or give --key-file FILE"},
		{name: "both", args: []string{"--data", "d", "--server", "https://a.example/v1"}, wrong: "give one or the other"},
		{name: "data of no name", args: []string{"--data="}, wrong: "--data must name a directory"},
		{name: "no address", args: []string{"--server", "a.example"}, environ: []string{key}, wrong: "--server: the server must be an absolute"},
		{name: "address of the environment", environ: []string{key, "LABSHELF_SERVER=x"}, wrong: "LABSHELF_SERVER: the server must be"},
		{name: "no file", args: []string{"--key-file", mine + "x"}, wrong: "there is no file"},
		{name: "folder", args: []string{"--key-file", filepath.Dir(mine)}, wrong: "is a folder"},
		{name: "far too long", args: []string{"--key-file", write(t, "long", strings.Repeat("k", connection.MaxKeyFile+1))}, wrong: "contains no key"},
		{name: "two words", args: []string{"--key-file", write(t, "two", "a b\n")}, wrong: "contain only a key"},
		{name: "empty", args: []string{"--key-file", write(t, "empty", "\n")}, wrong: "contain only a key"},
		{name: "unknown variable", args: []string{"--data", "d"}, environ: []string{"LABSHELF_KEYS=x"}, wrong: "did you mean LABSHELF_KEY?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := placeFrom(t, tt.args, tt.environ...)
			if tt.wrong != "" {
				if !errors.Is(err, exit.ErrUsage) || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("got %v, want %q", err, tt.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			base := ""
			if got.remote != nil {
				base = got.remote.Base()
			}
			if got.data != tt.data || base != tt.base {
				t.Errorf("got %q, %q, want %q, %q", got.data, base, tt.data, tt.base)
			}
		})
	}
}

// TestKeyFileMustBePrivate: a key file that others can read is rejected, and the key is not shown.
func TestKeyFileMustBePrivate(t *testing.T) {
	t.Parallel()
	for _, mode := range []os.FileMode{0o640, 0o604, 0o666} {
		path := write(t, "key", "lsk_canary\n")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			if os.Getenv("CI") == "true" {
				t.Fatal("CI needs a file system with permissions for this test")
			}
			t.Skip("this file system has no permissions")
		}
		_, err := placeFrom(t, []string{"--key-file", path})
		if !errors.Is(err, exit.ErrUsage) || !strings.Contains(err.Error(), "chmod 600") || strings.Contains(err.Error(), "canary") {
			t.Errorf("%o: %v", mode, err)
		}
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	silent := newProgress(&out) // not a terminal
	silent.set("files", 1, 2)
	silent.close()
	if out.Len() > 0 {
		t.Errorf("without a terminal: %q", out.String())
	}
	silent.say(&out, "after it\n")
	if out.String() != "after it\n" {
		t.Errorf("after its end: %q", out.String())
	}
	silent.set("files", 1, 2)
	silent.close()
}
