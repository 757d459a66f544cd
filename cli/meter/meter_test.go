package meter

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"
)

// TestMeterShows tests the content of the line, that it follows the totals, and that it fits the
// terminal.
func TestMeterShows(t *testing.T) {
	t.Parallel()
	m, now := &Meter{what: "put"}, time.Now()
	shows := func(words ...string) {
		t.Helper()
		got := m.line(now, 120)
		for _, word := range words {
			if !strings.Contains(got, word) {
				t.Errorf("no %q in %q", word, got)
			}
		}
	}
	m.Expect(4, 4<<20)
	m.Moved(1 << 20)
	m.Finished(1)
	shows("put  25% |███         | 1.0 MiB of 4.0 MiB, 1 of 4 files")
	m.Expect(4, 4<<20)
	m.Moved(3 << 20)
	m.Finished(3)
	shows(" 50%", "4 of 8 files")
	m.Skipped(-3 << 20)
	shows(" 12%")
	m.Moved(7 << 20)
	shows(" 99%")
	m.Expect(1, 8<<20)
	shows(" 50%")
	if got := m.line(now, 29); uniseg.StringWidth(got) > 29 || !strings.HasPrefix(got, "put  50% 8.0 MiB of") {
		t.Errorf("in 29 columns: %q", got)
	}
}

// TestMeterPrintsText: a line of text replaces the bar, which reappears below it.
func TestMeterPrintsText(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	m, now := &Meter{what: "put", out: &out}, time.Now()
	m.Expect(1, 1<<20)
	m.draw(now, false, 80)
	if out.Len() > 0 {
		t.Errorf("too early: %q", out.String())
	}
	m.draw(now, true, 20)
	out.Reset()
	m.Say("a.txt: cannot be read")
	if got := out.String(); got != "\r"+strings.Repeat(" ", 19)+"\ra.txt: cannot be read\n" {
		t.Errorf("got %q", got)
	}
	out.Reset()
	m.Say("b.txt: cannot be read")
	if got := out.String(); got != "b.txt: cannot be read\n" {
		t.Errorf("got %q", got)
	}
}

// TestMeterOfResumption: bytes that an earlier run transferred count as done. They do not affect
// the rate or the remaining time.
func TestMeterOfResumption(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	m, now := &Meter{what: "put", out: &out}, time.Now()
	m.Expect(1, 10<<30)
	m.draw(now, false, 120)
	m.Skipped(9 << 30)
	for range 20 {
		m.Moved(2 << 20)
		now = now.Add(200 * time.Millisecond)
		m.draw(now, false, 120)
	}
	got := m.line(now, 120)
	for _, want := range []string{" 90%", "9.0 GiB of 10 GiB", " 10 MiB/s", "1 min 38 s left"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// TestMeterAfterComparing tests that after the first transferred bytes the rate is the rate of the
// network, however long the file was read before.
func TestMeterAfterComparing(t *testing.T) {
	t.Parallel()
	m, now := &Meter{what: "put", out: &bytes.Buffer{}}, time.Now()
	m.Expect(1, 1<<30)
	for range 20 {
		m.Read(50 << 20)
		now = now.Add(200 * time.Millisecond)
		m.draw(now, false, 120)
	}
	m.Skipped(-1000 << 20) // the file is read again
	for range 5 {
		now = now.Add(200 * time.Millisecond)
		m.Moved(20 << 20)
		m.draw(now, false, 120)
	}
	if got := m.line(now, 120); !strings.Contains(got, " 100 MiB/s") || !strings.Contains(got, "0 of 1 file,") {
		t.Errorf("got %q", got)
	}
}

// TestMeterStalls: while no bytes are transferred, the line shows neither a rate nor a remaining
// time.
func TestMeterStalls(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	m, now := &Meter{what: "put", out: &out}, time.Now()
	m.Expect(1, 1<<30)
	m.draw(now, false, 120)
	for range 10 {
		m.Moved(10 << 20)
		now = now.Add(200 * time.Millisecond)
		m.draw(now, false, 120)
	}
	if got := m.line(now, 120); !strings.Contains(got, "50 MiB/s") || !strings.Contains(got, "left") {
		t.Errorf("got %q", got)
	}
	now = now.Add(7 * time.Second)
	m.draw(now, false, 120)
	if got := m.line(now, 120); !strings.Contains(got, "stalled for 7 s") || strings.Contains(got, "/s") || strings.Contains(got, "left") {
		t.Errorf("got %q", got)
	}
}

// TestMeterOfParts: each part of the work has its own rates, which exclude skipped bytes.
func TestMeterOfParts(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	m, now := New(&out, ""), time.Now()
	m.Set("metadata", 0, 4096)
	m.draw(now, false, 120)
	m.Set("metadata", 4096, 4096)
	m.Set("files", 0, 0)
	m.draw(now, true, 120)
	if out.Len() > 0 {
		t.Errorf("without work: %q", out.String())
	}
	m.Skip("files", 600<<20)
	m.Set("files", 600<<20, 1000<<20)
	m.draw(now, false, 120)
	for i := range int64(5) {
		m.Set("files", (600+10*(i+1))<<20, 1000<<20)
		now = now.Add(time.Second)
		m.draw(now, true, 120)
	}
	for _, want := range []string{"files  65%", " 10 MiB/s", " 35 s left"} {
		if got := out.String(); !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// TestMeterIsSilent: nothing is drawn if stderr is not a terminal.
func TestMeterIsSilent(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	m := New(&out, "put")
	m.Expect(1, 1)
	m.Moved(1)
	m.Finished(1)
	m.Say("done")
	m.Close()
	m.Close()
	if got := out.String(); got != "done\n" {
		t.Errorf("got %q", got)
	}
}
