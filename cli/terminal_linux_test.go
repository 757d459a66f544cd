package cli

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a shell on a pseudo terminal.
type terminal struct {
	*os.File
	text chan string // output of the shell
	all  strings.Builder
}

func (d shellHome) terminal(t *testing.T, name string, args ...string) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := master.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	failed := raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 160})
		}
		if err == nil {
			number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	})
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := d.command(name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := slave.Close(); err != nil {
		t.Error(err)
	}
	term := &terminal{File: master, text: make(chan string, 1000)}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = master.Close()
		for range term.text { // discard the rest until the terminal closes
		}
	})
	go func() {
		defer close(term.text)
		part := make([]byte, 4096)
		for {
			n, err := master.Read(part)
			if n > 0 {
				term.text <- string(part[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	return term
}

// waitFor reads the output of the shell until the pattern matches. It returns the text before the
// match, and the groups of the match.
func (term *terminal) waitFor(t *testing.T, pattern string) (before string, groups []string) {
	t.Helper()
	expression, late := regexp.MustCompile(pattern), time.After(scriptTimeout)
	for {
		text := term.all.String()
		if at := expression.FindStringSubmatchIndex(text); at != nil {
			groups = expression.FindStringSubmatch(text)
			term.all.Reset()
			term.all.WriteString(text[at[1]:])
			return text[:at[0]], groups
		}
		select {
		case more, open := <-term.text:
			if !open {
				t.Fatalf("the shell ended before %s: %q", pattern, text)
			}
			term.all.WriteString(more)
		case <-late:
			t.Fatalf("no %s in %q", pattern, text)
		}
	}
}

// types types text, in which tab characters are presses of the tab key. It returns the completed
// line and the shown output.
func (term *terminal) types(t *testing.T, text string) (line, shown string) {
	t.Helper()
	if _, err := io.WriteString(term, text+"\x18p"); err != nil {
		t.Fatal(err)
	}
	shown, groups := term.waitFor(t, `(?s)<<<(.*?)>>>`)
	return groups[1], shown
}
