package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/auth/errs"
	"labshelf/client"
)

// TestListingsYieldEverythingOnce: a listing yields everything once, in order, whatever the page
// size, and requests no unused page.
func TestListingsYieldEverythingOnce(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	var want []string
	for i := range 7 {
		want = append(want, s.upload(t, fmt.Sprint("file ", i), []byte{byte(i)}).ID)
	}
	var pages atomic.Int64
	c := s.behind(t, func(w http.ResponseWriter, r *http.Request, service http.Handler) {
		pages.Add(1)
		service.ServeHTTP(w, r)
	})
	for limit, asked := range map[int]int64{1: 8, 2: 5, 7: 2, 1000: 2} {
		pages.Store(0)
		var got []string
		for _, r := range collect(t, c.Sets.Resources(t.Context(), s.set.ID, client.ListOptions{Limit: limit})) {
			got = append(got, r.ID)
		}
		same(t, got, want)
		same(t, pages.Load(), asked)
	}
	pages.Store(0)
	for r, err := range c.Resources.List(t.Context(), client.ListOptions{Limit: 3}) {
		check(t, err)
		if r.ID == want[3] {
			break
		}
	}
	same(t, pages.Load(), 2)
	all := c.Resources.List(t.Context(), client.ListOptions{Limit: 3})
	same(t, len(collect(t, all)), len(collect(t, all))) // each loop begins at the first page
}

// TestLastPageBringsOnlyChanges: the stored URL of the last page returns exactly the later changes:
// new, changed, deleted and restored objects.
func TestLastPageBringsOnlyChanges(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	kept := client.ListOptions{State: client.All, Limit: 2}.At(s.set.Resources)
	harvest := func() (got []string) {
		for page, err := range client.Pages[client.Resource](t.Context(), s.c, kept) {
			if err != nil {
				t.Fatal(err)
			}
			if page.End != (page.Next == "") || page.End != (len(page.Data) == 0) {
				t.Errorf("%+v", page)
			}
			for _, r := range page.Data {
				got = append(got, r.Name+" "+r.State)
			}
			kept = page.URL
		}
		return got
	}
	same(t, harvest(), nil) // an empty set has no position, so its listing begins again
	a, b, c := s.upload(t, "a", nil), s.upload(t, "b", nil), s.upload(t, "c", nil)
	same(t, harvest(), []string{"a active", "b active", "c active"})
	same(t, harvest(), nil)
	check(t, s.c.Resources.Delete(t.Context(), b.ID))
	must[client.Resource](t)(s.c.Resources.Edit(t.Context(), a.ID, client.ResourceEdit{Name: new("A")}))
	s.upload(t, "d", nil)
	same(t, harvest(), []string{"b deleted", "A active", "d active"})
	must[client.Resource](t)(s.c.Resources.Restore(t.Context(), b.ID))
	must[client.Resource](t)(s.c.Resources.Replace(t.Context(), c.ID, client.NewResource{Name: "c"}, strings.NewReader("new"), -1))
	same(t, harvest(), []string{"b active", "c active"})
	same(t, harvest(), nil)
}

// TestPageURLsOfAMovedService: the client requests a page from its service, whatever host the URL
// of the page has.
func TestPageURLsOfAMovedService(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.upload(t, "a", nil)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the key was sent to another host") }))
	defer elsewhere.Close()
	first := must[client.Page[client.Resource]](t)(client.FetchPage[client.Resource](t.Context(), s.c, s.c.Base()+"/resources?limit=1"))
	for _, base := range []string{elsewhere.URL + "/v1", "https://data.example.org/shelf/v1", ""} {
		moved := base + strings.TrimPrefix(first.Next, s.c.Base())
		if base == "" {
			moved = "/v1" + moved
		}
		page, err := client.FetchPage[client.Resource](t.Context(), s.c, moved)
		if err != nil || !page.End || page.URL != moved {
			t.Errorf("%s: %+v, %v", moved, page, err)
		}
		filtered, err := client.FetchPage[client.Resource](t.Context(), s.c, base+"/v1/resources?state=deleted")
		if err != nil || !filtered.End {
			t.Errorf("%s: %+v, %v", base, filtered, err)
		}
	}
	for _, wrong := range []string{"", "resources", "https://data.example.org/resources", first.Next + "x"} {
		if page, err := client.FetchPage[client.Resource](t.Context(), s.c, wrong); err == nil {
			t.Errorf("%q: %+v", wrong, page)
		}
	}
}

// TestErrorEndsAListing: an error ends a listing, once, after the items before it.
func TestErrorEndsAListing(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.upload(t, "a", nil)
	s.upload(t, "b", nil)
	var asked atomic.Int64
	c := s.behind(t, func(w http.ResponseWriter, r *http.Request, service http.Handler) {
		if asked.Add(1) == 2 {
			answers(500, "internal", "")(w, r, nil)
			return
		}
		service.ServeHTTP(w, r)
	})
	var reported []string
	for r, err := range c.Resources.List(t.Context(), client.ListOptions{Limit: 1}) {
		reported = append(reported, fmt.Sprint(r.Name, err))
	}
	same(t, reported, []string{"a<nil>", "the service answered 500 internal: told"})
	for name, all := range map[string]iter.Seq2[client.Resource, error]{
		"a filter that it does not have": s.c.Resources.List(t.Context(), client.ListOptions{Name: "a"}),
		"filters that exclude another":   s.c.Sets.Resources(t.Context(), s.set.ID, client.ListOptions{Name: "a", Since: time.Unix(1, 0)}),
		"no id":                          s.c.Sets.Resources(t.Context(), "", client.ListOptions{}),
		"a parent for an id":             s.c.Dataspaces.Resources(t.Context(), "..", client.ListOptions{}),
		"a path for an id":               s.c.Sets.Resources(t.Context(), s.set.ID+"/resources?x=", client.ListOptions{}),
	} {
		n := 0
		for r, err := range all {
			if n++; err == nil || r != (client.Resource{}) {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
		}
		same(t, n, 1)
	}
}

// calls returns the calls that read existing objects, each with a response that is read to its end.
func calls(ctx context.Context, c *client.Client) map[string]func() error {
	return map[string]func() error{
		"Dataspace": func() error { _, err := c.Dataspaces.Get(ctx, "i"); return err },
		"NewSet":    func() error { _, err := c.Sets.Create(ctx, client.NewSet{}); return err },
		"Resource":  func() error { _, err := c.Resources.Get(ctx, "i"); return err },
		"DeleteSet": func() error { return c.Sets.Delete(ctx, "i") },
		"CreateResource": func() error {
			_, err := c.Resources.Create(ctx, client.NewResource{SetID: "i", Name: "n"}, strings.NewReader("text"), 4)
			return err
		},
		"Me":       func() error { _, err := c.Users.Me(ctx); return err },
		"NewKey":   func() error { _, err := c.Keys.Create(ctx, "i", client.NewKey{}); return err },
		"Grant":    func() error { _, err := c.Privileges.Grant(ctx, client.NewPrivilege{}); return err },
		"Usage":    func() error { _, err := c.Usage(ctx); return err },
		"SignIn":   func() error { _, err := c.Sessions.SignIn(ctx, "lsk_canary"); return err },
		"SignOut":  func() error { return c.Sessions.SignOut(ctx, client.Session{}) },
		"Document": func() error { _, err := c.OpenAPIYAML(ctx); return err },
		"Data": func() error {
			f, err := c.Resources.Data(ctx, "i", 0, "")
			if err == nil {
				_, err = io.Copy(io.Discard, f)
			}
			return err
		},
		"Archive": func() error { zip, err := c.Sets.Archive(ctx, "i"); return drain(zip, err) },
		"Sets": func() error {
			for _, err := range c.Sets.List(ctx, client.ListOptions{}) {
				return err
			}
			return nil
		},
	}
}

// TestForeignAnswersAreRecognised: every response of a server that is not labshelf is an error.
func TestForeignAnswersAreRecognised(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"<html>welcome</html>", "{}", "[]", `"x"`, "null", `{"id": 1}`, `{"end": false}`, `{"end": true, "nextPage": "/v1/sets"}`, ""} {
		c, _ := hasty(server(t, problem(http.StatusOK, answer)), client.Retries{})
		for name, call := range calls(t.Context(), c) {
			if p, ok := errors.AsType[*client.Problem](call()); !ok || p.Status != http.StatusOK || p.Code != "" {
				t.Errorf("%s of %s: %+v", name, answer, p)
			}
		}
	}
	for name, call := range calls(t.Context(), server(t, problem(http.StatusForbidden, `{"code": "forbidden", "detail": "not you", "field": "x"}`))) {
		if p, ok := errors.AsType[*client.Problem](call()); !ok || *p != (client.Problem{Status: 403, Code: "forbidden", Detail: "not you", Field: "x"}) {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestBrokenPageIsIncomplete: a truncated page is an error.
func TestBrokenPageIsIncomplete(t *testing.T) {
	t.Parallel()
	var asked sync.Map
	c, _ := hasty(server(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := asked.LoadOrStore(r.Method+r.URL.Path, new(atomic.Int64))
		n.(*atomic.Int64).Add(1)
		w.Header().Set("Content-Length", "100")
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = io.WriteString(w, `{"id": "I"}`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}), client.Retries{})
	all := calls(t.Context(), c)
	for name, want := range map[string]int64{"Dataspace": 5, "NewSet": 1, "Usage": 5, "Document": 5, "Grant": 5} {
		asked.Clear()
		err := all[name]()
		var n int64
		asked.Range(func(_, count any) bool { n += count.(*atomic.Int64).Load(); return true })
		if !errors.Is(err, client.ErrIncomplete) || n != want {
			t.Errorf("%s: %v after %d tries", name, err, n)
		}
	}
}

// TestConditionsAreSent: a precondition is sent. An empty precondition is an error, so that no call
// is sent without it.
func TestConditionsAreSent(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	ctx := t.Context()
	if _, err := s.c.Sets.Get(ctx, s.set.ID, client.IfNoneMatch(s.set.ETag)); !errors.Is(err, client.ErrNotModified) {
		t.Errorf("got %v", err)
	}
	edited := must[client.Set](t)(s.c.Sets.Edit(ctx, s.set.ID, client.SetEdit{Title: new("New")}, client.IfMatch(s.set.ETag)))
	if edited.ETag == s.set.ETag {
		t.Error("the ETag has not changed")
	}
	same(t, must[client.Set](t)(s.c.Sets.Get(ctx, s.set.ID, client.IfNoneMatch(s.set.ETag))), edited)
	for name, err := range map[string]error{
		"delete": s.c.Sets.Delete(ctx, s.set.ID, client.IfMatch(s.set.ETag)),
		"restore": func() error {
			_, err := s.c.Sets.Restore(ctx, s.set.ID, client.IfMatch(s.set.ETag))
			return err
		}(),
	} {
		if p, ok := errors.AsType[*client.Problem](err); !ok || p.Code != errs.CodePrecondition {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, listed := range collect(t, s.c.Sets.List(ctx, client.ListOptions{})) {
		if err := s.c.Sets.Delete(ctx, listed.ID, client.IfMatch(listed.ETag)); err == nil || !strings.Contains(err.Error(), "read the record first") {
			t.Errorf("got %v", err)
		}
	}
	same(t, must[client.Set](t)(s.c.Sets.Get(ctx, s.set.ID)).State, client.Active)
}

// TestConcurrentCalls: one client can be used concurrently.
func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			text := noise(i * 10_000)
			r, err := s.c.Resources.Create(context.Background(), client.NewResource{SetID: s.set.ID, Name: fmt.Sprint(i)}, strings.NewReader(string(text)), -1)
			if err != nil {
				t.Error(err)
				return
			}
			got, err := readAll(t, s.c.WithRetries(client.Retries{}), r.ID)
			if err != nil || string(got) != string(text) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			for _, err := range s.c.Resources.List(context.Background(), client.ListOptions{Limit: 5}) {
				check(t, err)
			}
		})
	}
	all.Wait()
	same(t, len(s.names(t)), 16)
}

// TestChildrenYieldOneLevel: the direct content of a folder is sorted by name, with files and
// folders together, whatever the page size.
func TestChildrenYieldOneLevel(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for _, name := range []string{"b", "a/1", "a/2", "a/c/3", "a/c/4", "c", "a.txt"} {
		s.upload(t, name, []byte(name))
	}
	for limit := 1; limit < 5; limit++ {
		for want, o := range map[string]client.ListOptions{
			"a.txt a/ b c": {},
			"c b a/ a.txt": {Order: "name-descending"},
			"a/1 a/2 a/c/": {NamePrefix: "a/"},
			"a/c/3 a/c/4":  {NamePrefix: "a/c/"},
			"":             {NamePrefix: "x/"},
			"a/c/ a/2 a/1": {NamePrefix: "a/", Order: "name-descending", State: client.All},
		} {
			o.Limit = limit
			var got []string
			for _, child := range collect(t, s.c.Sets.Children(t.Context(), s.set.ID, o)) {
				got = append(got, child.Name())
			}
			same(t, strings.Join(got, " "), want)
		}
	}
	for _, err := range s.c.Sets.Children(t.Context(), s.set.ID, client.ListOptions{Order: "newest"}) {
		if _, is := errors.AsType[*client.Problem](err); !is {
			t.Errorf("folders by time: %v", err)
		}
	}
}
