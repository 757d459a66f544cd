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

// restServer is its name in the table.
const restServer = "rest-server"

const restServerModule = "github.com/restic/rest-server/cmd/rest-server@v0.14.0"

// errNoRestServer is returned if rest-server is not on this machine.
var errNoRestServer = errors.New("rest-server is not installed")

// findRestServer returns the rest-server on the PATH, or the one in the user's cache.
func findRestServer() (program string, err error) {
	if program, err = exec.LookPath("rest-server"); err == nil {
		return program, nil
	}
	program, err = cachedRestServer()
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", errNoRestServer, err)
	}
	return program, err
}

// cachedRestServer returns the path where buildRestServer installs rest-server.
func cachedRestServer() (string, error) {
	cache, err := os.UserCacheDir()
	if runtime.GOOS == "windows" {
		return filepath.Join(cache, "labshelf-bench", "rest-server.exe"), err
	}
	return filepath.Join(cache, "labshelf-bench", "rest-server"), err
}

// buildRestServer builds rest-server from its public repository into the user's cache.
func buildRestServer(ctx context.Context) (program string, err error) {
	program, err = cachedRestServer()
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNoRestServer, err)
	}
	cmd := exec.CommandContext(ctx, "go", "install", restServerModule)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOBIN="+filepath.Dir(program))
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w, and cannot be built: %w\n%s", errNoRestServer, err, output)
	}
	return program, nil
}

// startRestServer runs rest-server with a new repository until open is closed.
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
