package commands

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

// TestMeterShows: what is on the line, that it follows what is expected, and that it stays within the terminal.
func TestMeterShows(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	m := &meter{what: "put", out: &out}
	line := func(columns int) string {
		out.Reset()
		m.draw(true, columns)
		return out.String()
	}
	m.expect(4, 4<<20)
	m.moved(1 << 20)
	m.finished(1)
	if got := line(80); !strings.HasPrefix(got, "\rput") || !strings.Contains(got, "25%") || !strings.Contains(got, "1.0/4.0 MiB") || !strings.Contains(got, "1/4 files") {
		t.Errorf("got %q", got)
	}
	m.expect(4, 4<<20)
	m.moved(3 << 20)
	m.finished(3)
	if got := line(80); !strings.Contains(got, "50%") || !strings.Contains(got, "4/8 files") {
		t.Errorf("more was expected, and it shows %q", got)
	}
	m.moved(-3 << 20)
	if got := line(80); !strings.Contains(got, "12%") {
		t.Errorf("some was taken back, and it shows %q", got)
	}
	m.moved(7 << 20)
	_ = line(80)
	m.expect(1, 8<<20)
	if got := line(80); !strings.Contains(got, "50%") {
		t.Errorf("more was expected after the end, and it shows %q", got)
	}
	m.hashing.Add(3 << 20)
	if got := line(100); !strings.Contains(got, "50%") || !strings.Contains(got, "4/9 files, hashing 3.0 MiB") {
		t.Errorf("some is hashed, and it shows %q", got)
	}
	m.hashing.Add(-3 << 20)
	if got := line(100); strings.Contains(got, "hashing") {
		t.Errorf("nothing is hashed any more, and it shows %q", got)
	}
	if got := uniseg.StringWidth(strings.TrimRight(strings.Trim(line(30), "\r"), " ")); got > 29 {
		t.Errorf("%d columns of 30", got)
	}
}

// TestMeterSays: a line of text takes the place of the bar, which comes back below it.
func TestMeterSays(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	m := &meter{what: "put", out: &out}
	m.draw(false, 80)
	if out.Len() > 0 {
		t.Errorf("too early: %q", out.String())
	}
	m.draw(true, 20)
	out.Reset()
	m.say("a.txt: cannot be read")
	if got := out.String(); got != "\r"+strings.Repeat(" ", 19)+"\ra.txt: cannot be read\n" {
		t.Errorf("got %q", got)
	}
	out.Reset()
	m.say("b.txt: cannot be read")
	if got := out.String(); got != "b.txt: cannot be read\n" {
		t.Errorf("got %q", got)
	}
}

// TestMeterIsSilent: nothing is drawn where stderr is no terminal.
func TestMeterIsSilent(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	m := Process{Err: &out}.newMeter("put")
	m.expect(1, 1)
	m.moved(1)
	m.finished(1)
	m.say("done")
	m.close()
	m.close()
	if got := out.String(); got != "done\n" {
		t.Errorf("got %q", got)
	}
}

// TestHashingIsNotSending: a file that is read for its digest before it is sent does not move the bar, also where that fails.
func TestHashingIsNotSending(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, ctx := range []context.Context{ended, t.Context()} {
		m := &meter{}
		s, err := openSource(path, m)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		if _, err := s.sumAhead(ctx); !errors.Is(err, ctx.Err()) {
			t.Errorf("hashed, and got %v", err)
		}
		if m.bytes.Load() != 0 || m.hashing.Load() != 0 {
			t.Errorf("after hashing, %d bytes count as done, and %d as being hashed", m.bytes.Load(), m.hashing.Load())
		}
	}
}
