// Package e2e runs the real program as a process of its own and calls it over HTTP, for end-to-end
// tests (which are here), for fault injection (package faults) and for measurements (package
// bench). It uses no package of the product.
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

// KeyFile is where, in its data directory, the service keeps the sysadmin's key that it made at its
// first start.
const KeyFile = "initial-admin.key"

// How long a service may take to start, and to end once it was asked to.
const (
	startLimit = 30 * time.Second
	stopLimit  = time.Minute
)

// Source returns the folder of the module labshelf. It works within the module verify.
func Source(ctx context.Context) (string, error) {
	folder, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "labshelf").Output()
	if err != nil {
		return "", fmt.Errorf("find the source of labshelf: %w", err)
	}
	return strings.TrimSpace(string(folder)), nil
}

// Build compiles labshelf into a folder and returns the path of the program. It works within the
// module verify. The flags go to go build; without -race the program is built as it is shipped,
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

// Environment returns the variables of this process without those that configure labshelf.
func Environment() []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "LABSHELF_") })
}

// Outcome is how a command of labshelf ended.
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

// Service is a labshelf serve under way, with a client whose caller is a sysadmin.
type Service struct {
	*Client
	cmd   *exec.Cmd
	log   string
	ended chan struct{}
	err   error // how it ended, known once ended is closed
}

// Start runs the program over a data directory, new or one that Start made, and returns when it
// takes requests, on a free port of loopback. Its log goes to the file data + ".log". The flags go
// to labshelf serve; variables LABSHELF_… of the environment do not reach it. The caller calls
// Stop. At the end of ctx the service is killed.
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

// ready waits for the service and returns its base URL. It polls the log, which is a file: a pipe
// would make this process a part of what is measured.
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
			return "", fmt.Errorf("it ended at once: %w\n%s", s.err, text)
		default:
		}
	}
	return "", fmt.Errorf("it did not start within %s", startLimit)
}

// PID returns the id of the process.
func (s *Service) PID() int { return s.cmd.Process.Pid }

// Stop asks the service to end, as an operator does, and waits for it. It returns an error, with
// the end of the log, if the service did not end well. (Windows has no such signal: there it is
// killed.)
func (s *Service) Stop() error {
	s.CloseIdle()
	if runtime.GOOS == "windows" {
		s.Kill()
		return nil
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	err := fmt.Errorf("it did not end within %s", stopLimit)
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

// Kill ends the service without asking, as a crash does, and waits for the end of the process.
// After Stop it does nothing.
func (s *Service) Kill() {
	_ = s.cmd.Process.Kill() // fails only where it has ended
	<-s.ended
	if s.Client != nil {
		s.CloseIdle()
	}
}
