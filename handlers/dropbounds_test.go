package handlers_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/handlers"
	"labshelf/repository"
)

// TestUnfinishedFileRequestUploads sends 16 concurrent uploads through a link. The link accepts as
// many as it may still receive, and at most 64. A completed or terminated upload makes room for
// another one.
func TestUnfinishedFileRequestUploads(t *testing.T) {
	t.Parallel()
	l := sysadmin(t).on(t).newLinked()
	for _, tc := range []struct {
		what   string
		limit  object
		before int // number of earlier uploads
		most   int
		rule   string
		after  int // answer to another upload after one is complete
	}{
		{"bytes", object{"maxBytes": 5*7 + 6}, 0, 5, "total size", http.StatusTooManyRequests},
		{"uses", object{"maxUses": 5}, 0, 5, "files", http.StatusTooManyRequests},
		{"both, one file", object{"maxBytes": 7, "maxUses": 1}, 0, 1, "files", http.StatusGone},
		{"any link", nil, 58, 6, "64", http.StatusCreated},
	} {
		fields := object{"kind": "request", "setId": l.set}
		for field, value := range tc.limit {
			fields[field] = value
		}
		v := l.newLink(fields)
		for range tc.before {
			v.started(7, "filename", "before")
		}
		answers := make([]*answer, 16)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = v.starts(7, "filename", fmt.Sprint(i)) })
		}
		all.Wait()
		var taken []string
		for _, a := range answers {
			if a.status == http.StatusCreated {
				taken = append(taken, a.header.Get("Location"))
				continue
			}
			a.problem(http.StatusTooManyRequests, "too_many_requests", "")
			if !strings.Contains(a.object().text("detail"), tc.rule) || a.header.Get("Retry-After") == "" {
				t.Errorf("%s: %s", tc.what, a.short())
			}
		}
		same(t, tc.what+": begun", len(taken), tc.most)
		v.bad("DELETE", taken[0], nil, inTus).want(http.StatusNoContent)
		again := v.started(7, "filename", "again")
		v.puts(again, 0, "content").want(http.StatusNoContent)
		same(t, tc.what+": after one is complete", v.starts(7, "filename", "more").status, tc.after)
	}
}

// TestPausedFileRequestUploadsEnd tests that an upload through a link ends after 50 minutes without
// content, even if requests without content arrive. It no longer counts, and the next cleanup
// removes its file.
func TestPausedFileRequestUploadsEnd(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	c := ownGateway(t, repository.Config{Now: func() time.Time { return time.Now().Add(time.Duration(clock.Load())) }}, handlers.Config{})
	l := c.newLinked()
	v := l.newLink(object{"kind": "request", "setId": l.set, "maxBytes": 30, "maxUses": 3})
	full := func(length int) {
		v.starts(length, "filename", "full").problem(http.StatusTooManyRequests, "too_many_requests", "")
	}
	first := v.started(10, "filename", "first")
	v.puts(first, 0, "01234").want(http.StatusNoContent)
	clock.Add(int64(time.Minute))
	second := v.started(10, "filename", "second")
	v.puts(second, 0, "01234").want(http.StatusNoContent)
	live := v.started(10, "filename", "live")
	full(1)
	clock.Add(int64(48 * time.Minute))
	v.puts(live, 0, "01234").want(http.StatusNoContent)
	v.puts(first, 5, "", "Labshelf-SHA256: "+strings.Repeat("a", 64)).want(http.StatusNoContent)
	full(1)
	clock.Add(int64(time.Minute))
	full(11)
	v.started(10, "filename", "third")
	v.bad("HEAD", first, nil, inTus).want(http.StatusGone)
	same(t, "the others", v.offset(second)+v.offset(live), "55")
	clock.Add(int64(time.Minute))
	v.started(10, "filename", "fourth")
	full(1)
	v.bad("HEAD", second, nil, inTus).want(http.StatusGone)
	v.puts(live, 5, "56789").want(http.StatusNoContent)
	clock.Add(int64(24 * time.Hour))
	same(t, "its result is known for longer", v.offset(live), "10")
	same(t, "files", len(l.dropped(l.set, v.id)), 1)
}

// TestUploadsOfLinksEnd tests that the record of a file request shows the size of its unfinished
// uploads. Its owner can end them, including one that is being sent. Complete files stay, and the
// quota regains the space.
func TestUploadsOfLinksEnd(t *testing.T) {
	t.Parallel()
	l := sysadmin(t).on(t).newLinked()
	v, other := l.newLink(object{"kind": "request", "setId": l.set}), l.newLink(object{"kind": "request", "setId": l.set})
	holds := func(of visitor, want string) {
		t.Helper()
		record := l.get("/links/" + of.id).want(http.StatusOK).object()
		same(t, "the bytes of unfinished uploads", fmt.Sprint(record["unfinishedUploads"], " ", record["unfinishedBytes"]), want)
	}
	done := v.started(5, "filename", "done")
	v.puts(done, 0, "01234").want(http.StatusNoContent)
	holds(v, "0 0")
	at, empty, kept := v.started(10, "filename", "a"), v.started(1<<40, "filename", "b"), other.started(10, "filename", "c")
	v.puts(at, 0, "0123456").want(http.StatusNoContent)
	other.puts(kept, 0, "01").want(http.StatusNoContent)
	holds(v, "2 7")
	for _, one := range l.get("/links?setId=" + l.set).want(http.StatusOK).data() {
		if one.text("id") == v.id {
			same(t, "in the listing", fmt.Sprint(one["unfinishedUploads"], " ", one["unfinishedBytes"]), "2 7")
		}
	}
	stranger, editor := l.newUser(nil), l.newMember("editor")
	for _, c := range []*client{stranger, editor} {
		c.bad("DELETE", "/links/"+v.id+"/uploads", nil).problem(http.StatusForbidden, "forbidden", "")
	}
	address := strings.TrimPrefix(empty, strings.TrimSuffix(l.base, "/v1"))
	sending, answers := l.dial("PATCH %s HTTP/1.1\r\nHost: localhost\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: 1000000\r\n\r\nbegin", address)
	defer func() { _ = sending.Close() }()
	for range 2 {
		l.send("DELETE", "/links/"+v.id+"/uploads", nil).want(http.StatusNoContent)
	}
	if line, err := answers.ReadString('\n'); err == nil && strings.Contains(line, " 20") {
		t.Errorf("the upload that was being sent continues: %s", line)
	}
	holds(v, "0 0")
	holds(other, "1 2")
	for _, ended := range []string{at, empty} {
		v.bad("HEAD", ended, nil, inTus).want(http.StatusNotFound)
	}
	same(t, "complete ones", len(l.dropped(l.set, v.id)), 1)
}
