package e2e

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo terminal. Bytes written to it are typed, and bytes read from it were shown.
type terminal struct {
	typed *os.File
	shown struct {
		sync.Mutex
		bytes.Buffer
	}
	ended chan struct{} // closed after all output was read
}

// openTerminal opens a terminal of 80 columns, and the file that programs use for it. The test
// closes it at its end.
func openTerminal(t *testing.T) (_ *terminal, programs *os.File) {
	t.Helper()
	typed, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	check(t, err)
	n, err := unix.IoctlGetInt(int(typed.Fd()), unix.TIOCGPTN)
	check(t, err)
	check(t, unix.IoctlSetPointerInt(int(typed.Fd()), unix.TIOCSPTLCK, 0))
	check(t, unix.IoctlSetWinsize(int(typed.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	programs, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	check(t, err)
	term := &terminal{typed: typed, ended: make(chan struct{})}
	go term.read()
	t.Cleanup(func() {
		_ = programs.Close()
		<-term.ended
		_ = typed.Close()
	})
	return term, programs
}

// read collects the output until no program uses the terminal.
func (term *terminal) read() {
	defer close(term.ended)
	buffer := make([]byte, 4096)
	for {
		n, err := term.typed.Read(buffer)
		term.shown.Lock()
		_, _ = term.shown.Write(buffer[:n])
		term.shown.Unlock()
		if err != nil {
			return
		}
	}
}

// text returns the output so far.
func (term *terminal) text() string {
	term.shown.Lock()
	defer term.shown.Unlock()
	return term.shown.String()
}

// mode returns the settings of the terminal, such as echo.
func (term *terminal) mode(t *testing.T) unix.Termios {
	t.Helper()
	mode, err := unix.IoctlGetTermios(int(term.typed.Fd()), unix.TCGETS)
	check(t, err)
	return *mode
}

// typeIn types a text.
func (term *terminal) typeIn(t *testing.T, text string) {
	t.Helper()
	_, err := io.WriteString(term.typed, text)
	check(t, err)
}

// waitFor waits until is returns true.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(startLimit); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}

// terminalSession is a terminal session that runs the program with a separate home directory.
type terminalSession struct {
	*terminal
	programs *os.File
	home     string // with a folder for temporary files
	env      []string
}

func newSession(t *testing.T, env ...string) *terminalSession {
	t.Helper()
	term, programs := openTerminal(t)
	s := &terminalSession{terminal: term, programs: programs, home: t.TempDir()}
	check(t, os.Mkdir(filepath.Join(s.home, "tmp"), 0o700))
	s.env = Environment()
	s.env = append(append(s.env, "HOME="+s.home, "XDG_CONFIG_HOME=", "TMPDIR="+filepath.Join(s.home, "tmp")), env...)
	return s
}

// start starts the program in the foreground of the terminal. ended receives its exit code.
func (s *terminalSession) start(t *testing.T, args ...string) (process *os.Process, ended <-chan int) {
	t.Helper()
	path, err := program()
	check(t, err)
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Dir = s.env, s.home
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.programs, s.programs, s.programs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	check(t, cmd.Start())
	code := make(chan int, 1)
	go func() {
		_ = cmd.Wait() // the exit code is read below
		code <- cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // if it has not ended
	return cmd.Process, code
}

// ends waits for the program, which must end with this exit code, and for all of its output.
func (s *terminalSession) ends(t *testing.T, ended <-chan int, want int) {
	t.Helper()
	select {
	case code := <-ended:
		s.settle(t)
		if code != want {
			t.Errorf("exit code %d, want %d; output:\n%s", code, want, s.text())
		}
	case <-time.After(stopLimit):
		t.Fatalf("the program did not end; output:\n%s", s.text())
	}
}

// settle waits until all output of programs is read.
func (s *terminalSession) settle(t *testing.T) {
	t.Helper()
	const mark = "\x1e" // no program writes this
	_, err := io.WriteString(s.programs, mark)
	check(t, err)
	waitFor(t, "all output", func() bool { return strings.HasSuffix(s.text(), mark) })
	s.shown.Lock()
	defer s.shown.Unlock()
	s.shown.Truncate(s.shown.Len() - len(mark))
}
