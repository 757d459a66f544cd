package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// server is another program that is compared with labshelf.
type server struct {
	peer
	pid int
}

// errNoNginx is returned if nginx is not on this machine.
var errNoNginx = errors.New("nginx is not installed")

// nginxConfig makes nginx as fast as possible: it keeps connections, sends files through the kernel
// and logs nothing. nginx runs as one process, so it uses at most one core.
const nginxConfig = `daemon off;
master_process off;
pid nginx.pid;
error_log error.log;
events { worker_connections 256; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  default_type application/json;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  server {
    listen %s;
    root "%s";
  }
}
`

// startNginx runs nginx with a folder as its root until open is closed.
func (b *bench) startNginx(ctx context.Context, open *closers, root string) (*server, error) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			return nil, errNoNginx
		}
	}
	root, err = filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(b.folder, "nginx-")
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	config := filepath.Join(folder, "nginx.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, nginxConfig, address, root), 0o600); err != nil {
		return nil, err
	}
	// Without -e, nginx would log to a file of root before it reads its configuration.
	return runServer(ctx, open, address, program, "-e", filepath.Join(folder, "error.log"), "-p", folder, "-c", config)
}

// buildPlain compiles the plain server.
func (b *bench) buildPlain(ctx context.Context) (string, error) {
	program := filepath.Join(b.folder, "plain")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, "labshelf/verify/bench/plain")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the plain server: %w\n%s", err, output)
	}
	return program, nil
}

// startPlain runs the plain server, which keeps the files of a folder in memory, until open is
// closed.
func (b *bench) startPlain(ctx context.Context, open *closers, folder string) (*server, error) {
	program, err := b.buildPlain(ctx)
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	return runServer(ctx, open, address, program, address, folder)
}

// freeAddress returns a free loopback address.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// startLimit is the maximum time that a server may take to start.
const startLimit = 10 * time.Second

// runServer runs a program that listens at an address, until open is closed.
func runServer(ctx context.Context, open *closers, address, program string, args ...string) (*server, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	open.later(func() error { return stop(cmd) })
	s := &server{peer: peer{address: address}, pid: cmd.Process.Pid}
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		w, err := dial(ctx, s.peer)
		if err == nil {
			w.close()
			return s, nil
		}
		if time.Since(begin) > startLimit {
			return nil, fmt.Errorf("%s: %w", program, err)
		}
	}
}

// stop sends SIGTERM to a process and waits for it. Windows has no such signal: there the process
// is killed.
func stop(cmd *exec.Cmd) error {
	how := os.Signal(syscall.SIGTERM)
	if runtime.GOOS == "windows" {
		how = os.Kill
	}
	err := cmd.Process.Signal(how)
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	var ended *exec.ExitError
	if waited := cmd.Wait(); !errors.As(waited, &ended) { // the signal causes an ExitError
		err = errors.Join(err, waited)
	}
	return err
}
