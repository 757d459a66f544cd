package servers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	_ "labshelf/internal/testhome"
)

// Timeouts of the start and the end of a server.
const (
	startLimit = time.Minute
	stopLimit  = time.Minute
	poll       = 5 * time.Millisecond // between checks of a starting or ending server
)

// process is a running program. All its output goes to a file.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
	err   error // the exit error, valid once ended is closed
}

// start runs a program. If the system supports it, the program ends when this process ends.
func start(cmd *exec.Cmd, log string, end os.Signal) (*process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = file, file
	endWithParent(cmd, end)
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		p.err = errors.Join(cmd.Wait(), file.Close())
		close(p.ended)
	}()
	return p, nil
}

// until polls ready until it returns true. It returns an error if the program ends first, or after
// a timeout.
func (p *process) until(ready func() bool, log string) error {
	for deadline := time.Now().Add(startLimit); time.Now().Before(deadline); time.Sleep(poll) {
		if ready() {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended: %w\n%s", p.cmd.Path, p.err, tail(log))
		default:
		}
	}
	return fmt.Errorf("%s did not start within %v\n%s", p.cmd.Path, startLimit, tail(log))
}

// signal sends a signal and waits for the program to end. After a timeout it kills the program.
func (p *process) signal(signal os.Signal) error {
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(stopLimit):
		_ = p.cmd.Process.Kill() // fails only after its end
		<-p.ended
		return fmt.Errorf("%s did not end within %v", p.cmd.Path, stopLimit)
	}
}

// tail returns the end of a log.
func tail(log string) string {
	text, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4096):])
}

// environment returns the variables of this process without those that configure PostgreSQL or S3.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return strings.HasPrefix(pair, "PG") || strings.HasPrefix(pair, "VGW_") || strings.HasPrefix(pair, "ROOT_") || strings.HasPrefix(pair, "LC_")
	})
}

// freePort returns an unused loopback port. It is below the ephemeral range, so that a killed
// server can get it again.
func freePort() (int, error) {
	var err error
	for range 100 {
		port := 15000 + rand.IntN(17000)
		var listener net.Listener
		if listener, err = net.Listen("tcp", loopback(port)); err == nil {
			return port, listener.Close()
		}
	}
	return 0, err
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
