package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/blobs"
	"labshelf/client"
	"labshelf/internal/cutproxy"
)

// throughCuts puts a proxy in front of the service, and returns its base URL. after returns the
// number of bytes after which a connection ends, half of the time with a reset.
func (s *service) throughCuts(t *testing.T, after func(*rand.Rand) int64) (base string, proxy *cutproxy.Proxy) {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("the seed is %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	how := []cutproxy.Ending{cutproxy.Close, cutproxy.Reset}
	proxy = must[*cutproxy.Proxy](t)(cutproxy.Start(s.server.Listener.Addr().String(), func(int) cutproxy.Limit {
		return cutproxy.Limit{Bytes: after(random), How: how[random.IntN(2)]}
	}))
	t.Cleanup(func() {
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
	})
	return "http://" + proxy.Addr() + "/v1", proxy
}

// noise returns endless data without repetitions.
func noise(seed uint64) io.Reader {
	return rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16)})
}

// TestGetThroughCuts: get fetches a file by ranges in one run, although no connection lasts long
// enough for it. GET_BYTES sets the size of the file, such as 2147483648, and makes connections
// last some MiB instead of one.
func TestGetThroughCuts(t *testing.T) {
	t.Parallel()
	size, longest := int64(16<<20), int64(3<<19)
	if asked := os.Getenv("GET_BYTES"); asked != "" {
		size, longest = must[int64](t)(strconv.ParseInt(asked, 10, 64)), 40<<20
	}
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	sum := sha256.New()
	r := must[client.Resource](t)(s.client.Resources.Create(t.Context(), client.NewResource{SetID: set.ID, Name: "large"},
		io.TeeReader(io.LimitReader(noise(1), size), sum), size))
	base, proxy := s.throughCuts(t, func(random *rand.Rand) int64 { return longest/3 + random.Int64N(longest*2/3) })
	var mu sync.Mutex
	var asked []int64 // offsets of the requests
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if isData(r) {
			mu.Lock()
			from, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), "-")
			at, _ := strconv.ParseInt(from, 10, 64) // 0 without a range
			asked = append(asked, at)
			mu.Unlock()
		}
		on(w, r)
	})
	for _, c := range []struct{ command, ref, file string }{{"get", r.ID, "large"}, {"harvest", "runs", "files/large"}} {
		mu.Lock()
		asked = nil
		mu.Unlock()
		_, before := proxy.Connections()
		dir, memory := filepath.Join(t.TempDir(), c.command), filepath.Join(t.TempDir(), "memory")
		cmd := s.process(t, c.command, c.ref, dir+"/")
		cmd.Env = append(cmd.Env, childBase+"="+base, childMemory+"="+memory)
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", c.command, err, out)
		}
		_, cuts := proxy.Connections()
		t.Logf("%s: %d bytes in %d requests, through %d cuts, in %v, with %s bytes of memory",
			c.command, size, len(asked), cuts-before, time.Since(began), must[[]byte](t)(os.ReadFile(memory)))
		if got := treeOf(t, dir); got[c.file] != blobs.Digest(sum.Sum(nil)).String() || c.command == "get" && len(got) != 1 {
			t.Errorf("%s: the files are %v", c.command, got)
		}
		if int64(len(asked)) < size/longest {
			t.Errorf("%s: only %d requests", c.command, len(asked))
		}
		for i, from := range asked {
			if i > 0 && (from < asked[i-1] || from == 0 && asked[i-1] > 0) {
				t.Errorf("%s: it went back: %v", c.command, asked)
			}
		}
	}
}

// TestLargePutThroughCuts: put sends a file in one run, although no connection lasts long enough
// for it. Only bytes that were in flight are sent twice. PUT_BYTES sets the size of the file, and
// makes connections last some MiB instead of one.
func TestLargePutThroughCuts(t *testing.T) {
	t.Parallel()
	size, longest := int64(24<<20), int64(2<<20)
	if asked := os.Getenv("PUT_BYTES"); asked != "" {
		size, longest = must[int64](t)(strconv.ParseInt(asked, 10, 64)), 40<<20
	}
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	path := filepath.Join(t.TempDir(), "large")
	file := must[*os.File](t)(os.Create(path))
	sum := sha256.New()
	_, err := io.Copy(file, io.TeeReader(io.LimitReader(noise(2), size), sum))
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	base, proxy := s.throughCuts(t, func(random *rand.Rand) int64 { return longest/3 + random.Int64N(longest*2/3) })
	var came atomic.Int64
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			r.Body = &passing{r.Body, &came, 0, nil}
		}
		on(w, r)
	})
	memory := filepath.Join(t.TempDir(), "memory")
	cmd := s.process(t, "put", path, "runs")
	cmd.Env = append(cmd.Env, childBase+"="+base, childMemory+"="+memory)
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, cuts := proxy.Connections()
	t.Logf("received %d bytes for a file of %d, through %d cuts, in %v, with %s bytes of memory",
		came.Load(), size, cuts, time.Since(began), must[[]byte](t)(os.ReadFile(memory)))
	if list := s.active(t, set.ID); len(list) != 1 || list[0].SHA256 != blobs.Digest(sum.Sum(nil)) {
		t.Errorf("stored %+v", list)
	}
	if cuts < size/longest || came.Load() != size {
		t.Errorf("received %d bytes for a file of %d, through %d cuts", came.Load(), size, cuts)
	}
}

// TestPutThroughCuts: an interrupted upload is repeated or reported. No file is stored twice or in
// part. When connections are no longer cut, the same command succeeds. Uploads of this size do not
// resume, so a file never arrives if no connection lasts long enough for it.
func TestPutThroughCuts(t *testing.T) {
	t.Parallel()
	const size = 1 << 20 // size of most files; some cuts only affect the response
	n := 24
	if testing.Short() {
		n = 10
	}
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	root, sums, old := t.TempDir(), map[string]string{}, map[string]string{}
	for i := range n {
		name, bytes := fmt.Sprintf("day %d/run-%d", i%3, i), int64(size)
		switch i % 8 {
		case 5:
			bytes = int64(i)
		case 6:
			bytes = 8 * size // no connection lasts long enough
		}
		text := string(must[[]byte](t)(io.ReadAll(io.LimitReader(noise(uint64(i)), bytes))))
		write(t, filepath.Join(root, name), text)
		sums[name] = blobs.Digest(sha256.Sum256([]byte(text))).String()
		if i%2 == 0 {
			old[name] = s.put(t, set.ID, name, "the content before").SHA256.String()
		}
	}
	base, proxy := s.throughCuts(t, func(random *rand.Rand) int64 {
		if random.IntN(2) == 0 {
			return 4096 + random.Int64N(3*size)
		}
		return size + random.Int64N(4096)
	})
	var out, problems bytes.Buffer
	err := run(t.Context(), base, s.key, nil, &out, &problems, []string{"put", root, "runs", "--json", "--parallel=8"})
	_, cuts := proxy.Connections()
	t.Logf("%d cuts, %v", cuts, err)
	if cuts < int64(n)/2 {
		t.Errorf("only %d connections were cut", cuts)
	}
	lines := map[string]outcome{}
	for text := range bytes.Lines(out.Bytes()) {
		var l outcome
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(err)
		}
		lines[l.Name] = l
	}
	there := map[string]string{}
	for _, r := range s.active(t, set.ID) {
		if _, twice := there[r.Name]; twice {
			t.Errorf("%q is stored twice", r.Name)
		}
		there[r.Name] = r.SHA256.String()
	}
	done := 0
	for name, want := range sums {
		l, got := lines[name], there[name]
		switch l.Outcome {
		case "sent", "replaced":
			done++
			if l.Outcome != map[bool]string{true: "replaced", false: "sent"}[old[name] != ""] || got != want || l.SHA256 != want {
				t.Errorf("%q: reported as %+v, stored %s, want %s", name, l, got, want)
			}
		case "failed":
			if !strings.Contains(l.Why, "does not answer") || got != old[name] && got != want {
				t.Errorf("%q: reported as %+v, stored %q", name, l, got)
			}
		default:
			t.Errorf("%q: reported as %+v", name, l)
		}
	}
	if done == 0 || done == n || err == nil {
		t.Errorf("%d of %d are done, with the error %v\n%s", done, n, err, &problems)
	}
	if got := s.run(t, "", "put", root, "runs"); got.error != nil {
		t.Errorf("without cuts: %+v", got)
	}
	for _, r := range s.active(t, set.ID) {
		if r.SHA256.String() != sums[r.Name] {
			t.Errorf("at the end %q has %s, want %s", r.Name, r.SHA256, sums[r.Name])
		}
	}
	if list := s.active(t, set.ID); len(list) != n {
		t.Errorf("at the end there are %d resources for %d files", len(list), n)
	}
}
