package handlers_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth/errs"
	"labshelf/handlers"
	"labshelf/repository"
	"labshelf/repository/events"
)

// stream is an event stream that is read line by line.
type stream struct {
	t     *testing.T
	lines *bufio.Reader
	body  interface{ Close() error }
}

// follow opens a stream. headers are lines.
func (c *client) follow(path string, headers ...string) *stream {
	c.t.Helper()
	response, err := httpClient.Do(c.request("GET", path, nil, headers))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = response.Body.Close() })
	same(c.t, "status", response.StatusCode, http.StatusOK)
	return &stream{c.t, bufio.NewReader(response.Body), response.Body}
}

// block reads up to the next empty line.
func (s *stream) block() string {
	s.t.Helper()
	var text strings.Builder
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			s.t.Fatalf("%v, after %q", err, text.String())
		}
		if line == "\n" {
			return text.String()
		}
		text.WriteString(line)
	}
}

// TestEvents tests that a stream has the form of server-sent events, resumes after an id given in
// either way, and contains no names.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := ownGateway(t, repository.Config{}, handlers.Config{}).newSpace(nil)
	set, member := s.newSet(), s.newMember("member")
	head := member.send("HEAD", "/events", nil).want(http.StatusOK)
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"} {
		same(t, name, head.header.Get(name), want)
	}
	live := member.follow("/events")
	opening := live.block()
	first, named := strings.CutPrefix(strings.TrimSpace(opening), "retry: 3000\n:\nid: ")
	same(t, "an opening with an id: "+opening, named, true)
	id := s.upload(set, "secret name", "content").text("id")
	text := live.block()
	want := `data: {"kind":"resource.create","object":{"kind":"resource","id":"` + id + `"},"dataspaceId":"` + s.dataspace + `","setId":"` + set + `"}`
	lines := strings.Split(text, "\n")
	same(t, "the lines "+text, len(lines), 4)
	same(t, "event", lines[1], "event: change")
	same(t, "data", lines[2], want)

	again := "retry: 3000\n" + text
	same(t, "after", member.follow("/events?after="+first).block(), again)
	same(t, "Last-Event-ID", member.follow("/events?after=x", "Last-Event-ID: "+first).block(), again)
	reload := member.follow("/events?after=x").block()
	same(t, "reload", reload, "retry: 3000\n"+lines[0]+"\nevent: reload\ndata: {\"kind\":\"reload\"}\n")
	member.bad("GET", "/events?since=x", nil).problem(http.StatusBadRequest, errs.CodeInvalidParameter, "since")

	for _, node := range append(s.others, s.repo) {
		node.Events.Close()
	}
	if rest, err := live.lines.ReadString(0); rest != "" || err == nil {
		t.Errorf("a stream that has ended sends %q (%v)", rest, err)
	}
}

// TestTooManyStreams tests that a stream beyond the limit of a user is refused until another one is
// closed.
func TestTooManyStreams(t *testing.T) {
	oneNode(t)
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	var open []*stream
	for range events.MaxPerUser {
		open = append(open, c.follow("/events"))
	}
	a := c.get("/events")
	a.problem(http.StatusTooManyRequests, errs.CodeTooManyStreams, "")
	same(t, "Retry-After", a.header.Get("Retry-After"), "30")
	c.newUser(nil).get("/events").want(http.StatusOK)
	if err := open[0].body.Close(); err != nil {
		t.Fatal(err)
	}
	for c.repo.Events.Count() >= events.MaxPerUser { // the service notices the closed connection
		time.Sleep(time.Millisecond)
	}
	c.get("/events").want(http.StatusOK)
}

// TestQuietStream tests that a stream without events for an hour stays open, and is neither cut off
// as stalled nor logged as slow.
func TestQuietStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBubble(t, handlers.Config{Stall: 10 * time.Second, MinRate: 1 << 10, Slow: time.Second})
		conn := b.Dial(t)
		go func() { _, _ = conn.Write([]byte(b.head("GET", "/events") + "\r\n")) }()
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		s := &stream{t, bufio.NewReader(response.Body), response.Body}
		s.block()
		for began := time.Now(); time.Since(began) < time.Hour; {
			before := time.Now()
			if text := s.block(); text != ":\n" || time.Since(before) > events.Heartbeat {
				t.Fatalf("%s later: %q", time.Since(before), text)
			}
		}
		b.upload("content")
		if text := s.block(); !strings.Contains(text, "resource.create") {
			t.Errorf("the stream has %q", text)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(time.Minute)
		if slow := b.slowLines(); len(slow) > 0 {
			t.Errorf("logged as slow: %s", slow)
		}
	})
}
