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

// TestUnfinishedDrops: of 16 uploads that begin at the same time, a link takes as many as it could still receive, and at most 64. One that is complete,
// or given up, makes room.
func TestUnfinishedDrops(t *testing.T) {
	t.Parallel()
	l := sysadmin(t).on(t).newLinked()
	for _, tc := range []struct {
		what   string
		limit  object
		before int // uploads that have begun before
		most   int
		rule   string
		after  int // the answer to another one when one is complete
	}{
		{"bytes", object{"maxBytes": 5*7 + 6}, 0, 5, "bytes", http.StatusTooManyRequests},
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

// TestPausedDropsEnd: an upload of a link ends when nothing has come of it for 50 minutes, also if
// requests without content come. It no longer counts, and the next removal takes its file.
func TestPausedDropsEnd(t *testing.T) {
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
	same(t, "what became of it is known for longer", v.offset(live), "10")
	same(t, "files", len(l.dropped(l.set, v.id)), 1)
}
