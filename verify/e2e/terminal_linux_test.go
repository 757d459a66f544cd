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

// terminal is a pseudo terminal: written text counts as typed, and read text was shown.
type terminal struct {
	typed *os.File
	shown struct {
		sync.Mutex
		bytes.Buffer
	}
	ended chan struct{} // all that was shown has been read
}

// openTerminal opens a terminal of 80 columns, and the side of it that programs have. It is closed
// at the end of the test.
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

// read keeps what is shown, until no program has the terminal any more.
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

// text is what was shown so far.
func (term *terminal) text() string {
	term.shown.Lock()
	defer term.shown.Unlock()
	return term.shown.String()
}

// mode is how the terminal treats what is typed and shown.
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

// waitFor waits until something is so.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(startLimit); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// terminalSession is a terminal session that runs the program, with a home directory of its own.
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

// start starts the program in the foreground of the terminal. ended gets its exit code.
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
		_ = cmd.Wait() // its code says it
		code <- cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // if it has not ended
	return cmd.Process, code
}

// ends waits for the program, which must end with this code, and until all that it has written is
// shown.
func (s *terminalSession) ends(t *testing.T, ended <-chan int, want int) {
	t.Helper()
	select {
	case code := <-ended:
		s.settle(t)
		if code != want {
			t.Errorf("exit code %d, want %d; it showed\n%s", code, want, s.text())
		}
	case <-time.After(stopLimit):
		t.Fatalf("it did not end; it showed\n%s", s.text())
	}
}

// settle waits until all that programs have written is shown.
func (s *terminalSession) settle(t *testing.T) {
	t.Helper()
	const mark = "\x1e" // which no program writes
	_, err := io.WriteString(s.programs, mark)
	check(t, err)
	waitFor(t, "all is shown", func() bool { return strings.HasSuffix(s.text(), mark) })
	s.shown.Lock()
	defer s.shown.Unlock()
	s.shown.Truncate(s.shown.Len() - len(mark))
}
