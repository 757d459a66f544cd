// Package e2e runs the real program as a separate process and calls it over HTTP. It is used by the
// end-to-end tests in this package, by fault injection (package faults) and by measurements
// (package bench). It uses no package of the product.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	_ "labshelf/internal/testhome"
)

// KeyFile is the file in the data directory with the sysadmin's key, which the service creates at
// its first start.
const KeyFile = "initial-admin.key"

// The maximum times for a service to start, and to end after a request to stop.
const (
	startLimit = 30 * time.Second
	stopLimit  = time.Minute
)

// Source returns the folder of the module labshelf. It works inside the module verify.
func Source(ctx context.Context) (string, error) {
	folder, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "labshelf").Output()
	if err != nil {
		return "", fmt.Errorf("find the source of labshelf: %w", err)
	}
	return strings.TrimSpace(string(folder)), nil
}

// Build compiles labshelf into a folder and returns the path of the program. It works inside the
// module verify. It passes flags to go build. Without -race, the program is built as for a release:
// without CGO, and with the libraries of its own go.mod.
func Build(ctx context.Context, folder string, flags ...string) (string, error) {
	source, err := Source(ctx)
	if err != nil {
		return "", err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return "", err
	}
	program := filepath.Join(folder, "labshelf")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-o", program}, flags, []string{"labshelf"})...)
	cmd.Dir = source
	if !slices.Contains(flags, "-race") {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build labshelf: %w\n%s", err, output)
	}
	return program, nil
}

// Environment returns the environment of this process without the variables that configure
// labshelf.
func Environment() []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "LABSHELF_") })
}

// Outcome is the result of a labshelf command.
type Outcome struct {
	Code           int
	Stdout, Stderr string
}

func (o Outcome) String() string {
	return fmt.Sprintf("exit code %d\n%s%s", o.Code, o.Stdout, o.Stderr)
}

// Run runs a command of the program to its end. It returns an error if the command could not run;
// an exit code other than 0 is not an error.
func Run(ctx context.Context, program string, args ...string) (o Outcome, err error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = Environment(), &stdout, &stderr
	err = cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); ended && ctx.Err() == nil {
		err = nil
	}
	return Outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}, err
}

// Service is a running labshelf serve, with a client that uses a sysadmin's key.
type Service struct {
	*Client
	cmd   *exec.Cmd
	log   string
	ended chan struct{}
	err   error // result of the process, valid after ended is closed
}

// Start runs the program with a data directory, which is new or was created by Start. It returns
// when the service accepts requests, on a free loopback port. The log goes to the file data +
// ".log". Start passes flags to labshelf serve, but no variables LABSHELF_… of the environment. The
// caller calls Stop. The service is killed when ctx is done.
func Start(ctx context.Context, program, data string, flags ...string) (_ *Service, err error) {
	s := &Service{log: data + ".log", ended: make(chan struct{})}
	log, err := os.Create(s.log)
	if err != nil {
		return nil, err
	}
	args := []string{"serve", "--data", data, "--listen", "127.0.0.1:0", "--log-format", "json"}
	s.cmd = exec.CommandContext(ctx, program, append(args, flags...)...)
	s.cmd.Env = Environment()
	s.cmd.Stderr = log
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	go func() {
		s.err = errors.Join(s.cmd.Wait(), log.Close())
		close(s.ended)
	}()
	base, err := s.ready()
	if err != nil {
		s.Kill()
		return nil, fmt.Errorf("start labshelf: %w", err)
	}
	key, err := os.ReadFile(filepath.Join(data, KeyFile))
	if err != nil {
		s.Kill()
		return nil, fmt.Errorf("the key of the first start: %w", err)
	}
	s.Client = NewClient(base, strings.TrimSpace(string(key)))
	return s, nil
}

// ready waits for the service and returns its base URL. It polls the log, which is a file: reading
// a pipe would add work of this process to measurements.
func (s *Service) ready() (string, error) {
	for deadline := time.Now().Add(startLimit); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		text, err := os.ReadFile(s.log)
		if err != nil {
			return "", err
		}
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			var line struct{ Message, Address string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Message == "started" {
				return line.Address, nil
			}
		}
		select {
		case <-s.ended:
			return "", fmt.Errorf("the service exited at its start: %w\n%s", s.err, text)
		default:
		}
	}
	return "", fmt.Errorf("the service did not start within %s", startLimit)
}

// PID returns the id of the process.
func (s *Service) PID() int { return s.cmd.Process.Pid }

// Stop sends SIGTERM to the service and waits for its end. It returns an error, with the end of the
// log, if the service failed. On Windows, which has no such signal, it kills the service.
func (s *Service) Stop() error {
	s.CloseIdle()
	if runtime.GOOS == "windows" {
		s.Kill()
		return nil
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	err := fmt.Errorf("the service did not end within %s", stopLimit)
	select {
	case <-s.ended:
		err = s.err
	case <-time.After(stopLimit):
		s.Kill()
	}
	if err != nil {
		log, reading := os.ReadFile(s.log)
		return fmt.Errorf("stop labshelf: %w\n%s", errors.Join(err, reading), log[max(0, len(log)-4096):])
	}
	return nil
}

// Kill kills the process, like a crash, and waits for its end. After Stop it does nothing.
func (s *Service) Kill() {
	_ = s.cmd.Process.Kill() // fails only if the process has ended
	<-s.ended
	if s.Client != nil {
		s.CloseIdle()
	}
}
