package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"labshelf/internal/cutproxy"
)

// TestLoginInterrupted tests that an interrupt at the prompt restores the terminal and stores no
// key.
func TestLoginInterrupted(t *testing.T) {
	t.Parallel()
	service := serve(t, filepath.Join(t.TempDir(), "data"))
	for name, test := range map[string]struct {
		typed  string
		signal syscall.Signal // 0: the interrupt is typed
	}{
		"Ctrl-C immediately":   {"\x03", 0},
		"Ctrl-C in the middle": {service.Key()[:9] + "\x03", 0},
		"SIGTERM":              {"", syscall.SIGTERM},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			before := s.mode(t)
			process, ended := s.start(t, "login", service.Base())
			waitFor(t, "the prompt for the key, without echo", func() bool {
				return strings.Contains(s.text(), "Key for ") && s.mode(t).Lflag&unix.ECHO == 0
			})
			s.typeIn(t, test.typed)
			if test.signal != 0 {
				check(t, process.Signal(test.signal))
			}
			s.ends(t, ended, 130)
			if after := s.mode(t); after != before {
				t.Errorf("the terminal has the mode %+v, want %+v", after, before)
			}
			if text := s.text(); strings.Contains(text, service.Key()[:9]) || !strings.Contains(text, "no key was stored") {
				t.Errorf("the output is %q", text)
			}
			if kept, err := filepath.Glob(filepath.Join(s.home, ".config", "labshelf", "*")); err != nil || len(kept) > 0 {
				t.Errorf("login has stored %v, %v", kept, err)
			}
			_, ended = s.start(t, "login", service.Base()) // in the same terminal
			waitFor(t, "the second prompt", func() bool { return strings.Count(s.text(), "Key for ") == 2 && s.mode(t).Lflag&unix.ECHO == 0 })
			s.typeIn(t, service.Key()+"\r")
			s.ends(t, ended, 0)
			if text := s.text(); strings.Contains(text, service.Key()) || !strings.Contains(text, "You are admin") {
				t.Errorf("the output is %q", text)
			}
		})
	}
}

// holding is a service with a set, behind a proxy that stalls each connection after a number of
// bytes.
type holding struct {
	*Service
	data  string // its directory
	set   string
	proxy *cutproxy.Proxy
	free  atomic.Bool // the proxy does not stall
}

func holdAfter(t *testing.T, bytes int64) *holding {
	t.Helper()
	h := &holding{data: filepath.Join(t.TempDir(), "data")}
	h.Service = serve(t, h.data)
	var err error
	_, h.set, err = h.MakeSet(t.Context(), "runs")
	check(t, err)
	h.proxy, err = cutproxy.Start(h.Address(), func(int) cutproxy.Limit {
		if h.free.Load() {
			return cutproxy.Limit{}
		}
		return cutproxy.Limit{Bytes: bytes, How: cutproxy.Hold}
	})
	check(t, err)
	t.Cleanup(func() { check(t, h.proxy.Close()) })
	return h
}

// person returns a terminal session that uses the service through the proxy.
func (h *holding) person(t *testing.T) *terminalSession {
	t.Helper()
	return newSession(t, "LABSHELF_SERVER=http://"+h.proxy.Addr()+"/v1", "LABSHELF_KEY="+h.Key())
}

// noise returns random bytes.
func noise(seed uint64, size int) []byte {
	text := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(text)
	return text
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// someFiles returns small files, and a file that is too large for a connection through the proxy.
func someFiles() map[string][]byte {
	files := map[string][]byte{"large": noise(1, 12<<20), "empty": {}}
	for i := range 5 {
		files["day 1/run-"+string(rune('a'+i))] = noise(uint64(i)+2, 1000*i)
	}
	return files
}

// stored returns the resources of the set, by name.
func (h *holding) stored(t *testing.T) map[string]Resource {
	t.Helper()
	all := map[string]Resource{}
	_, err := h.Walk(t.Context(), "/sets/"+h.set+"/resources?limit=1000", func(page Page) error {
		for _, r := range page.Data {
			if _, twice := all[r.Name]; twice {
				t.Errorf("%q appears twice", r.Name)
			}
			all[r.Name] = r
		}
		return nil
	})
	check(t, err)
	return all
}

// fill uploads the files.
func (h *holding) fill(t *testing.T, files map[string][]byte) {
	t.Helper()
	for name, text := range files {
		_, err := h.Upload(context.Background(), http.MethodPost, "/resources",
			File{SetID: h.set, Name: name, Filename: "x", Body: bytes.NewReader(text), Size: int64(len(text))})
		check(t, err)
	}
}

// interrupts runs a command in a terminal, and types Ctrl-C when the proxy stalls its connection
// and the progress bar is visible. The terminal mode and the folder for temporary files must be as
// before.
func (s *terminalSession) interrupts(t *testing.T, h *holding, args ...string) {
	t.Helper()
	before := s.mode(t)
	_, ended := s.start(t, args...)
	select {
	case <-h.proxy.Held():
	case code := <-ended:
		t.Fatalf("the command ended before the interrupt, with %d: %s", code, s.text())
	}
	waitFor(t, "the progress bar", func() bool { return strings.Contains(s.text(), " files") })
	s.typeIn(t, "\x03")
	s.ends(t, ended, 130)
	if after := s.mode(t); after != before {
		t.Errorf("the terminal has the mode %+v, want %+v", after, before)
	}
	text := s.text()
	shown := text[strings.LastIndex(text, "\r ")+1:] // after the bar, which was overwritten with spaces
	if _, last, _ := strings.Cut(shown, "\r"); !strings.Contains(last, "labshelf: interrupted; run the same command again to resume") || strings.Contains(last, "/7 files") {
		t.Errorf("the last output is %q", shown)
	}
	if left, err := os.ReadDir(filepath.Join(s.home, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("temporary files remain: %v, %v", left, err)
	}
}

// goesOn runs the command again, without stalls.
func (s *terminalSession) goesOn(t *testing.T, h *holding, args ...string) {
	t.Helper()
	h.free.Store(true)
	_, ended := s.start(t, args...)
	s.ends(t, ended, 0)
}

// TestPutInterrupted tests that Ctrl-C leaves only complete resources in the service, and that the
// same command resumes.
func TestPutInterrupted(t *testing.T) {
	t.Parallel()
	h := holdAfter(t, 6<<20)
	s := h.person(t)
	files := someFiles()
	for name, text := range files {
		path := filepath.Join(s.home, "source", filepath.FromSlash(name))
		check(t, os.MkdirAll(filepath.Dir(path), 0o700))
		check(t, os.WriteFile(path, text, 0o600))
	}
	s.interrupts(t, h, "put", "source", "runs")
	for name, r := range h.stored(t) {
		if r.SHA256 != digest(files[name]) || name == "large" {
			t.Errorf("put has left %+v", r)
		}
	}
	arriving := func() int {
		left, err := os.ReadDir(filepath.Join(h.data, "tmp"))
		check(t, err)
		return len(left)
	}
	if n := arriving(); n != 1 { // the service cannot notice the interrupt while the proxy holds the connection
		t.Errorf("the service has %d temporary files", n)
	}
	check(t, h.proxy.Close())
	waitFor(t, "the service to remove its temporary file", func() bool { return arriving() == 0 })
	s.goesOn(t, h, "put", "source", "runs", "--server", h.Base())
	stored := h.stored(t)
	for name, text := range files {
		if stored[name].SHA256 != digest(text) || len(stored) != len(files) {
			t.Errorf("%q of %d is %+v", name, len(stored), stored[name])
		}
	}
}

// TestPutStandardInputInterrupted tests that the text typed before the interrupt is not stored.
func TestPutStandardInputInterrupted(t *testing.T) {
	t.Parallel()
	h := holdAfter(t, 1<<30)
	s := h.person(t)
	before := s.mode(t)
	_, ended := s.start(t, "put", "-", "runs", "--name", "typed")
	s.typeIn(t, "one line\r")
	waitFor(t, "a temporary file with the typed line", func() bool {
		kept, err := filepath.Glob(filepath.Join(s.home, "tmp", "*"))
		if err != nil || len(kept) != 1 {
			return false
		}
		text, err := os.ReadFile(kept[0])
		return err == nil && string(text) == "one line\n"
	})
	s.typeIn(t, "half a line\x03")
	s.ends(t, ended, 130)
	if left, err := os.ReadDir(filepath.Join(s.home, "tmp")); err != nil || len(left) > 0 || s.mode(t) != before {
		t.Errorf("temporary files remain: %v, %v", left, err)
	}
	if stored := h.stored(t); len(stored) > 0 {
		t.Errorf("put has stored %v", stored)
	}
}

// complete compares the files below a folder with files, and returns their number. It calls
// arriving for partial files, which have other names.
func (s *terminalSession) complete(t *testing.T, folder string, files map[string][]byte, arriving func(path string)) (n int) {
	t.Helper()
	root := filepath.Join(s.home, folder)
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.HasSuffix(path, ".part") {
			arriving(path)
			return nil
		}
		n++
		name, err := filepath.Rel(root, path)
		check(t, err)
		text, err := os.ReadFile(path)
		check(t, err)
		if want, known := files[filepath.ToSlash(name)]; !known || !bytes.Equal(text, want) {
			t.Errorf("%s has %d bytes, want %d", name, len(text), len(want))
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	return n
}

// TestGetInterrupted tests that Ctrl-C leaves complete files, and a partial file only if it is
// large enough to resume, under another name. The same command must resume.
func TestGetInterrupted(t *testing.T) {
	t.Parallel()
	for after, kept := range map[int64]int{300 << 10: 0, 6 << 20: 1} {
		t.Run(strings.Repeat("part", kept), func(t *testing.T) {
			t.Parallel()
			h := holdAfter(t, after)
			s := h.person(t)
			files := someFiles()
			h.fill(t, files)
			s.interrupts(t, h, "get", "runs", "copy")
			parts := 0
			if n := s.complete(t, "copy", files, func(string) { parts++ }); parts != kept || n > len(files)-1 {
				t.Errorf("get has left %d files and %d partial files", n, parts)
			}
			s.goesOn(t, h, "get", "runs", "copy")
			if n := s.complete(t, "copy", files, func(path string) { t.Errorf("the partial file %s remains", path) }); n != len(files) {
				t.Errorf("got %d files", n)
			}
		})
	}
}

// TestHarvestInterrupted tests that Ctrl-C leaves a mirror of complete files, and that the same
// command resumes.
func TestHarvestInterrupted(t *testing.T) {
	t.Parallel()
	h := holdAfter(t, 6<<20)
	s := h.person(t)
	files := someFiles()
	h.fill(t, files)
	check(t, os.Mkdir(filepath.Join(s.home, "mirror"), 0o700))
	s.interrupts(t, h, "harvest", "runs", "mirror")
	s.complete(t, "mirror/files", files, func(path string) { t.Errorf("the partial file %s is among the files", path) })
	s.goesOn(t, h, "harvest", "runs", "mirror")
	if n := s.complete(t, "mirror/files", files, func(path string) { t.Errorf("the partial file %s remains", path) }); n != len(files) {
		t.Errorf("got %d files", n)
	}
	if _, err := os.Stat(filepath.Join(s.home, "mirror", "incoming")); !os.IsNotExist(err) {
		t.Errorf("the folder incoming remains: %v", err)
	}
}
