package handlers_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth/errs"
	"labshelf/handlers"
	"labshelf/repository/core"
)

// newUser returns a client of the service for another user. With editor set, the user is an editor.
func (b *bubble) newUser(name string, editor bool) *bubble {
	b.t.Helper()
	post := func(path, format string, args ...any) object {
		return b.send("POST", path, raw{"application/json", fmt.Appendf(nil, format, args...)}).want(http.StatusCreated).object()
	}
	id := post("/users", `{"username": %q}`, name).text("id")
	other := *b
	other.key = post("/users/"+id+"/keys", `{"label": "test"}`).text("key")
	if editor {
		dataspace := b.send("GET", "/sets/"+b.set, raw{}).want(http.StatusOK).object().text("dataspaceId")
		post("/privileges", `{"userId": %q, "dataspaceId": %q, "role": "editor"}`, id, dataspace)
	}
	return &other
}

// begin sends the head of a request, and returns when the service waits for its client.
func (b *bubble) begin(method, path, headers string) (close func(), read func() *answer, write func(string)) {
	b.t.Helper()
	conn := b.Dial(b.t)
	if _, err := io.WriteString(conn, b.head(method, path)+headers+"\r\n"); err != nil {
		b.t.Fatal(err)
	}
	synctest.Wait()
	read = func() *answer { return b.read(method+" "+path, bufio.NewReader(conn)) }
	write = func(text string) {
		if _, err := io.WriteString(conn, text); err != nil {
			b.t.Error(err)
		}
	}
	return func() { _ = conn.Close(); synctest.Wait() }, read, write
}

// observed collects the observations of requests.
type observed struct {
	mu   sync.Mutex
	over []string
}

func (o *observed) observe(request handlers.Observation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if request.OverBudget != "" {
		o.over = append(o.over, request.Method+" "+request.Route+": "+request.OverBudget)
	}
}

func (o *observed) all() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.over, "\n")
}

// TestSlowReadersKeepNoSlot opens as many archives as a caller may have, without reading them. The
// caller's next archive is refused. Other callers get their archives, although only one slot
// exists.
func TestSlowReadersKeepNoSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		seen := &observed{}
		b, _ := newBubble(t, handlers.WithBudgets(handlers.Config{Observe: seen.observe}, 2, 64<<20))
		greedy, other := b.newUser("greedy", true), b.newUser("other", true)
		b.upload(strings.Repeat("content ", 100_000))
		archive := "/sets/" + b.set + "/archive"
		first, _, _ := greedy.begin("GET", archive, "")
		second, _, _ := greedy.begin("GET", archive, "")
		refused := greedy.send("GET", archive, raw{}).problem(http.StatusServiceUnavailable, errs.CodeOverBudget, "")
		if refused.header.Get("Retry-After") == "" {
			t.Error("the refusal has no Retry-After")
		}
		other.send("GET", archive, raw{}).want(http.StatusOK)
		first()
		greedy.send("GET", archive, raw{}).want(http.StatusOK)
		second()
		same(t, "observed", seen.all(), "GET /v1/sets/:id/archive: requests")
		same(t, "in the log", strings.Count(b.log.String(), `"over_budget":"requests"`), 1)
	})
}

// TestSlowBodiesKeepNoSlot sends parts of CSV files. A caller without a role is refused before the
// body. The unfinished bodies of one editor do not delay another editor, although only one slot
// exists.
func TestSlowBodiesKeepNoSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBubble(t, handlers.WithBudgets(handlers.Config{}, 8, 64<<20))
		slow, other, stranger := b.newUser("slow", true), b.newUser("other", true), b.newUser("stranger", false)
		b.upload("content")
		path := "/sets/" + b.set + "/metadata"
		file := string(b.send("GET", path, raw{}).want(http.StatusOK).body)
		head := fmt.Sprintf("Content-Type: text/csv\r\nContent-Length: %d\r\n", len(file))
		for range 5 {
			_, read, _ := stranger.begin("POST", path, head)
			read().want(http.StatusForbidden)
		}
		var ends []func()
		for range 5 {
			_, read, write := slow.begin("POST", path, head)
			write(file[:10])
			ends = append(ends, func() {
				go write(file[10:])
				read().want(http.StatusOK)
			})
		}
		synctest.Wait()
		other.send("POST", path, raw{"text/csv", []byte(file)}).want(http.StatusOK)
		other.send("GET", "/resources", raw{}).want(http.StatusOK)
		for _, end := range ends {
			end()
		}
	})
}

// TestBodiesCountAsMemory tests that bodies count towards the memory of their caller. A body that
// exceeds the caller's share is refused while it arrives.
func TestBodiesCountAsMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBubble(t, handlers.WithBudgets(handlers.Config{}, 8, 4<<20))
		greedy, other := b.newUser("greedy", true), b.newUser("other", true)
		b.upload("content")
		path := "/sets/" + b.set + "/metadata"
		long := raw{"text/csv", []byte(strings.Repeat("x", 5<<20))}
		greedy.send("POST", path, long).problem(http.StatusServiceUnavailable, errs.CodeOverBudget, "")
		time.Sleep(time.Second) // the server waits this long before it closes the connection
		_, _, write := greedy.begin("POST", path, "Content-Type: text/csv\r\nContent-Length: 5000000\r\n")
		write(strings.Repeat("x", 15<<17))
		synctest.Wait()
		other.send("POST", path, raw{"text/csv", []byte("id,etag\n")}).want(http.StatusOK)
	})
}

// describeMany uploads files, each with the given number of bytes of metadata.
func (b *bubble) describeMany(files, bytes int) {
	b.t.Helper()
	texts := fmt.Sprintf(`{"properties": {"text": [%s"end"]}}`, strings.Repeat(`"`+strings.Repeat("x", 990)+`",`, bytes/1000))
	for i := range files {
		b.send("POST", "/resources", form(text("setId", b.set), text("metadata", texts), file(fmt.Sprint("file", i), "content"))).want(http.StatusCreated)
	}
}

// TestPagesEndByBytes lists files with much metadata. A page ends early, and the next page
// continues after it.
func TestPagesEndByBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBubble(t, handlers.Config{})
		const files, each = 70, 60_000
		b.describeMany(files, each)
		next, listed, pages := "/sets/"+b.set+"/resources?fields=metadata&limit=1000", 0, 0
		for ; next != ""; pages++ {
			got := b.send("GET", next, raw{}).want(http.StatusOK)
			if len(got.body) > core.MaxPageBytes+2*each {
				t.Errorf("a page has %d bytes", len(got.body))
			}
			listed += len(got.data())
			_, next, _ = strings.Cut(got.object().text("nextPage"), "/v1")
		}
		if listed != files || pages != 3 {
			t.Errorf("%d files on %d pages, want %d on 3 pages, the last of them empty", listed, pages, files)
		}
	})
}

// TestSlowPagesCountAsMemory tests that pages count towards the memory of their caller while they
// are sent. Other callers still get pages.
func TestSlowPagesCountAsMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBubble(t, handlers.WithBudgets(handlers.Config{}, 100, 16<<20))
		greedy, other := b.newUser("greedy", true), b.newUser("other", true)
		b.describeMany(40, 60_000)
		path := "/sets/" + b.set + "/resources?fields=metadata&limit=1000"
		var ends []func()
		for range 100 {
			end, _, _ := greedy.begin("GET", path, "")
			ends = append(ends, end)
			if strings.Contains(b.log.String(), `"over_budget":"memory"`) {
				break
			}
		}
		if len(ends) < 2 || len(ends) > 5 {
			t.Errorf("page %d is refused; each has 2 MB, and the limit is 16 MiB", len(ends))
		}
		other.send("GET", path, raw{}).want(http.StatusOK)
		for _, end := range ends {
			end()
		}
		greedy.send("GET", path, raw{}).want(http.StatusOK)
	})
}

// TestDriveHasBudgets tests that a caller with too many concurrent requests to the drive is refused
// the next one. Other callers are served.
func TestDriveHasBudgets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		seen := &observed{}
		b, _ := newBubble(t, handlers.WithBudgets(handlers.Config{Observe: seen.observe}, 2, 64<<20))
		greedy, other := b.newUser("greedy", true), b.newUser("other", true)
		for n := range 60 { // the answer is longer than the service sends in one write
			b.send("POST", "/resources", form(text("setId", b.set), file(fmt.Sprint(strings.Repeat("x", 200), n), "content"))).want(http.StatusCreated)
		}
		find := func(caller *bubble) (end func(), read func() *answer) {
			end, read, _ = caller.begin("PROPFIND", "/dav/lab/runs/", "Depth: 1\r\n")
			return end, read
		}
		first, _ := find(greedy)
		second, _ := find(greedy)
		_, read := find(greedy)
		if a := read().problem(http.StatusServiceUnavailable, errs.CodeOverBudget, ""); a.header.Get("Retry-After") == "" {
			t.Error("the refusal has no Retry-After")
		}
		_, read = find(other)
		read().want(http.StatusMultiStatus)
		first()
		_, read = find(greedy)
		read().want(http.StatusMultiStatus)
		second()
		same(t, "observed", seen.all(), "PROPFIND /dav/: requests")
	})
}
