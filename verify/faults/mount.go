package faults

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"labshelf/verify/faults/crash"
	"labshelf/verify/faults/passfs"
	"labshelf/verify/faults/script"
)

// mounted is a directory and the mount of passfs through which child processes use it. It can be
// used once.
type mounted struct {
	below, above string
	fs           *passfs.FS
	child        *os.Process
	inactive     bool // true until the first operation is acknowledged: the hook is not called
	calls        int  // so far
	killed       bool // the child was killed: its later calls fail
	mu           sync.Mutex
}

// mountHook is a passfs.Hook that also receives its mount.
type mountHook func(s *mounted, c *passfs.Call, do func() syscall.Errno) syscall.Errno

// newMount mounts the directory dir/below, which may exist. passfs calls the hook for each call
// until kill.
func newMount(dir string, hook mountHook) (*mounted, error) {
	s := &mounted{below: filepath.Join(dir, "below"), above: filepath.Join(dir, "above")}
	for _, path := range []string{s.below, s.above} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
	}
	var err error
	s.fs, err = passfs.Mount(s.below, s.above, func(c *passfs.Call, do func() syscall.Errno) syscall.Errno {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case s.killed:
			return syscall.EIO
		case s.inactive:
			return do()
		}
		s.calls++
		return hook(s, c, do)
	})
	return s, err
}

// kill kills the child during a call, which never returns to it.
func (s *mounted) kill() syscall.Errno {
	s.killed = true
	_ = s.child.Kill() // it may have ended already
	return syscall.EIO
}

// run starts this program as a child on the mount and waits for its end. It passes each Report of
// the child to report, and sends the answer to the child. The hook is not called in the meantime.
// If the child failed without being killed, the error contains its standard error.
func (s *mounted) run(ctx context.Context, report func(script.Report) (answer string), args ...string) error {
	cmd, err := childCommand(ctx, append(args, s.above)...)
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, opening := cmd.StdinPipe()
	out, failed := cmd.StdoutPipe()
	if err := errors.Join(opening, failed); err != nil {
		return err
	}
	s.mu.Lock() // no call may come before the child is set
	err = cmd.Start()
	s.child = cmd.Process
	s.mu.Unlock()
	if err != nil {
		return err
	}
	talked := s.answerReports(in, out, report)
	if talked != nil {
		_ = cmd.Process.Kill() // it may have ended already
	}
	err = cmd.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.killed {
		return nil
	}
	if err != nil {
		err = fmt.Errorf("%v: %w\n%s", args, err, &stderr)
	}
	return errors.Join(talked, err)
}

// answerReports answers the reports of the child until it ends.
func (s *mounted) answerReports(in io.WriteCloser, out io.Reader, report func(script.Report) string) error {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return in.Close() // an incomplete line is not a report
		}
		var r script.Report
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		s.mu.Lock()
		answer := report(r)
		s.inactive = s.inactive && r.Code != ""
		s.mu.Unlock()
		if _, err := io.WriteString(in, answer+"\n"); err != nil && !errors.Is(err, syscall.EPIPE) {
			return err
		}
	}
}

// childCommand runs this program again.
func childCommand(ctx context.Context, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, self, args...), nil
}

// The child processes that run the script and recover from it.
const (
	childScript  = "child-script"
	childRecover = "child-recover"
)

func scriptChild(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return childEnd(stderr, script.Child(ctx, args[0], os.Stdin, stdout))
}

func recoverChild(ctx context.Context, args []string, _, stderr io.Writer) int {
	return childEnd(stderr, script.Recover(ctx, args[0]))
}

func childEnd(stderr io.Writer, err error) int {
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// acks is the state that a child has acknowledged.
type acks struct {
	count    int
	state    script.State // after the last acknowledged operation
	reported script.State // after the last report
}

func (a *acks) take(r script.Report) {
	a.reported = a.reported.Apply(r)
	if r.Code == "" {
		a.state, a.count = a.reported, r.Op+1
	}
}

// golden is a run of the script without faults.
type golden struct {
	crash.Recording
	States   []script.State // after each operation
	recovery int            // number of calls of a recovery without work
	made     string         // a copy of the directory after the first creation
	creation int            // number of calls of the first creation
}

// mountGolden is like newMount, for the script. If late is set, faults begin only after the first
// creation, which takes most of the calls. In this case the stores exist already, and the hook is
// inactive until they are open.
func (g *golden) mountGolden(dir string, late bool, hook mountHook) (*mounted, error) {
	if late {
		if err := errors.Join(os.MkdirAll(dir, 0o700), copyTree(g.made, filepath.Join(dir, "below"))); err != nil {
			return nil, err
		}
	}
	s, err := newMount(dir, hook)
	if err == nil {
		s.inactive = late
	}
	return s, err
}

// copyTree copies a directory, with the modes of a data directory.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		place := filepath.Join(to, strings.TrimPrefix(path, from))
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return os.Mkdir(place, 0o700)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return crash.WriteFile(place, content)
	})
}

// recordScript runs the script to its end and records its calls.
func recordScript(ctx context.Context, dir string) (g *golden, err error) {
	g = &golden{}
	s, err := newMount(dir, func(_ *mounted, c *passfs.Call, do func() syscall.Errno) syscall.Errno {
		kept := *c
		kept.Data = bytes.Clone(c.Data)
		errno := do()
		if errno == 0 {
			kept.File = c.File
			g.Calls, g.Acks = append(g.Calls, kept), append(g.Acks, g.Total)
		}
		return errno
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.fs.Unmount()) }()
	a := acks{}
	var refused error
	err = s.run(ctx, func(r script.Report) string {
		if r.Code != "" || r.Unread != "" || r.Temps > 0 {
			refused = fmt.Errorf("without faults: operation %d: %s %s, %d temporary files", r.Op, r.Error, r.Unread, r.Temps)
			return ""
		}
		a.take(r)
		if r.Op == 0 {
			g.creation, g.made = len(g.Calls), filepath.Join(dir, "made")
			refused = copyTree(s.below, g.made)
		}
		g.States, g.Total = append(g.States, a.state), a.count
		return script.Next
	}, childScript)
	if err = errors.Join(err, refused); err != nil {
		return nil, err
	}
	if g.Total != script.Length() {
		return nil, fmt.Errorf("the script ended after %d operations", g.Total)
	}
	recorded := len(g.Calls)
	if err := s.run(ctx, nil, childRecover); err != nil {
		return nil, err
	}
	g.recovery = len(g.Calls) - recorded
	g.Calls, g.Acks = g.Calls[:recorded], g.Acks[:recorded]
	return g, nil
}

// expect returns the allowed states after the given acknowledgements.
func (g *golden) expect(a acks) script.Expected {
	e := script.Expected{Acked: a.state}
	if a.count > 0 {
		e.Before = g.States[a.count-1]
	}
	e.After = e.Before
	if a.count < len(g.States) {
		e.After = g.States[a.count]
	}
	_, e.InBatches = script.Operation(a.count)
	return e
}
