package commands

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestPutKilled: killed again and again, it sends each byte once, but for the files that were under way.
func TestPutKilled(t *testing.T) {
	t.Parallel()
	const parallel, kills, size = 4, 4, 10_000
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	files, whole := map[string]string{}, int64(0)
	for i := range 120 {
		name := fmt.Sprintf("%d/%d.bin", i%7, i)
		files[name] = strings.Repeat(fmt.Sprint(i%10), size)
		whole += size
	}
	root := tree(t, files)
	var moved, uploads, running atomic.Int64
	var process atomic.Pointer[os.Process]
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if isUpload(r) {
			running.Add(1)
			defer running.Add(-1)
			r.Body = &counting{ReadCloser: r.Body, bytes: &moved}
			if n := uploads.Add(1); n%25 == 0 && n <= kills*25 {
				_ = process.Load().Kill()
			}
		}
		on(w, r)
	})
	killed := 0
	for range 10 * kills {
		cmd := s.process(t, "put", root, "runs", fmt.Sprintf("--parallel=%d", parallel))
		var told bytes.Buffer
		cmd.Stderr = &told
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		process.Store(cmd.Process)
		err := cmd.Wait()
		s.server.CloseClientConnections()
		for running.Load() > 0 { // what was under way is stored, or not
			time.Sleep(time.Millisecond)
		}
		if err == nil {
			break
		}
		if killed++; told.Len() > 0 {
			t.Fatalf("it failed: %s", told.String())
		}
	}
	if killed != kills {
		t.Errorf("it was killed %d times", killed)
	}
	s.holds(t, set.ID, files)
	const around = 1200 // bytes of a multipart body beside the file
	if most, n := whole+kills*parallel*size+uploads.Load()*around, moved.Load(); n < whole || n > most || uploads.Load() > int64(len(files)+kills*parallel) {
		t.Errorf("%d bytes in %d uploads, want at most %d", n, uploads.Load(), most)
	}
}

// counting counts the bytes of a body.
type counting struct {
	io.ReadCloser
	bytes *atomic.Int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.bytes.Add(int64(n))
	return n, err
}

// TestPutMany: many files and a large one go in, the second time nothing is sent, and neither takes memory. PUT_FILES says how many,
// such as 20000, and makes the large one one of 4 GiB.
func TestPutMany(t *testing.T) {
	t.Parallel()
	n, large := 500, int64(64<<20)
	if testing.Short() {
		n = 100
	}
	if asked := os.Getenv("PUT_FILES"); asked != "" {
		n, large = must[int](t)(strconv.Atoi(asked)), 4<<30
	}
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	files := map[string]string{}
	for i := range n {
		name := fmt.Sprintf("d%d/Gr\u00fc\u00dfe %d/\u0301%d.csv", i%13, i%101, i)
		files[name] = strings.Repeat("x", i%3*100) // a third is empty, and the rest the same many times
	}
	root := tree(t, files)
	put := func(want string) {
		t.Helper()
		memory := filepath.Join(t.TempDir(), "memory")
		cmd := s.process(t, "put", root, "runs", "--parallel=8")
		cmd.Env = append(cmd.Env, childMemory+"="+memory)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("%v: %s", err, out)
		}
		taken := must[int](t)(strconv.Atoi(string(must[[]byte](t)(os.ReadFile(memory)))))
		if most := 48<<20 + n*1000; taken > most {
			t.Errorf("it took %d bytes of memory, want at most %d", taken, most)
		}
	}
	put("sent  " + fileCount(n))
	s.holds(t, set.ID, files)
	path := filepath.Join(root, "large")
	write(t, path, "")
	if err := os.Truncate(path, large); err != nil {
		t.Fatal(err)
	}
	put("sent           1 file, ")
	c := s.counted()
	put("already there  " + fileCount(n+1))
	if c.methods["POST"]+c.methods["PUT"] != 0 || c.methods["GET"] > 6+n/wholePage {
		t.Errorf("the second time it made the requests %v", c.methods)
	}
}
