package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// restServer is what the table calls it.
const restServer = "rest-server"

const restServerModule = "github.com/restic/rest-server/cmd/rest-server@v0.14.0"

// errNoRestServer: it is not installed and cannot be built here.
var errNoRestServer = errors.New("rest-server is not installed, and cannot be built here")

// findRestServer returns the rest-server on the PATH, or the one in the user's cache, which it builds there the first time.
func findRestServer(ctx context.Context) (program string, err error) {
	if program, err = exec.LookPath("rest-server"); err == nil {
		return program, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNoRestServer, err)
	}
	folder := filepath.Join(cache, "labshelf-bench")
	program = filepath.Join(folder, "rest-server")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	cmd := exec.CommandContext(ctx, "go", "install", restServerModule)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOBIN="+folder)
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %w\n%s", errNoRestServer, err, output)
	}
	return program, nil
}

// startRestServer runs rest-server over a new repository, until open is closed.
func (b *bench) startRestServer(ctx context.Context, open *closers, program string) (*server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s, err := runServer(ctx, open, address, program, "--no-auth", "--listen", address, "--path", filepath.Join(b.folder, "rest-server"))
	if err != nil {
		return nil, err
	}
	w, err := dial(ctx, s.peer)
	if err != nil {
		return nil, err
	}
	defer w.close()
	_, err = w.want(200, s.request("POST", "/?create=true", lengthHeader(0)))
	return s, err
}

func blobPath(digest string) string { return "/data/" + digest }

func lengthHeader(n int64) string { return fmt.Sprintf("Content-Length: %d\r\n", n) }
