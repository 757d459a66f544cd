package handlers_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"labshelf/auth/errs"
	"labshelf/handlers"
	"labshelf/repository"
)

// find searches after all pending changes are indexed.
func (c *client) find(q string, more ...string) *answer {
	c.t.Helper()
	for _, node := range append([]*repository.Service{c.repo}, c.others...) {
		if err := node.Search.Indexed(c.t.Context()); err != nil {
			c.t.Fatal(err)
		}
	}
	if q != "" {
		more = append(more, "q="+url.QueryEscape(q))
	}
	return c.get("/search?" + strings.Join(more, "&")).want(http.StatusOK)
}

// hits returns the kinds and names of the results.
func hits(a *answer) string {
	a.t.Helper()
	var found []string
	for _, h := range a.data() {
		found = append(found, fmt.Sprint(h.text("kind"), " ", objectOf(h["record"]).text("name"), " ", h["matched"]))
	}
	return strings.Join(found, ", ")
}

func objectOf(v any) object { return object(v.(map[string]any)) }

// TestSearch tests that hits contain the same records as listings, with their matches and counts.
func TestSearch(t *testing.T) {
	t.Parallel()
	own := ownGateway(t, repository.Config{}, handlers.Config{})
	s := own.newSpace(nil)
	set := s.newSet()
	made := s.upload(set, "Übersicht-17.csv", "crystal,phase\nquartz,alpha\n")
	s.upload(set, "other.bin", "\x00\x01\x02")
	s.send("PATCH", "/resources/"+made.text("id"), object{"metadata": object{
		"tags": []string{"Salt"}, "properties": object{"temperature": object{"value": 20, "unit": "°C"}},
	}}).want(http.StatusOK)
	for q, want := range map[string]string{
		"ubers": "resource Übersicht-17.csv [name]", "quartz": "resource Übersicht-17.csv [text]", "tag:salt": "resource Übersicht-17.csv [tags]",
		"temperature:>290K": "resource Übersicht-17.csv [properties]", "type:csv": "resource Übersicht-17.csv []", "17 -quartz": "", "size:3": "resource other.bin []",
	} {
		if got := hits(s.find(q)); got != want {
			t.Errorf("%s finds %q, want %q", q, got, want)
		}
	}
	found := s.find("tag:salt", "counts=true", "fields=metadata", "order=newest")
	record := s.get("/resources/" + made.text("id")).want(http.StatusOK).object()
	same(t, "the record", fmt.Sprint(found.data()[0]["record"]), fmt.Sprint(map[string]any(record)))
	same(t, "total", found.object()["total"], any(1.0))
	same(t, "counts", fmt.Sprint(objectOf(found.object()["counts"])["tags"]), "[map[count:1 value:Salt]]")
	without := objectOf(s.find("tag:salt").data()[0]["record"])
	if _, ok := without["metadata"]; ok {
		t.Error("descriptive metadata are shown without being requested")
	}
	names, _ := s.walk("/search?order=name&limit=1")
	same(t, "hits of an empty query", len(names), 4)
	same(t, "a search without hits", string(s.find("nowhere").body), "{\n  \"end\": true\n}\n")

	s.get("/search?q=size:big").problem(400, errs.CodeInvalidParameter, "q")
	s.bad("GET", "/search?q=x&order=oldest&since=2026", nil).problem(400, errs.CodeInvalidParameter, "since")
	stranger := own.newUser(nil)
	same(t, "hits of a user without a role", hits(stranger.find("tag:salt")), "")
	same(t, "the next page of another's search", hits(stranger.get(strings.TrimPrefix(s.find("type:file", "limit=1").text("nextPage"), s.base)).want(http.StatusOK)), "")
}

// TestIndex tests that sysadmins can see the state of the index and rebuild it.
func TestIndex(t *testing.T) {
	t.Parallel()
	own := ownGateway(t, repository.Config{}, handlers.Config{})
	s := own.newSpace(nil)
	s.upload(s.newSet(), "a.txt", "quartz")
	same(t, "hits", len(s.find("quartz").data()), 1)
	before := s.get("/admin/index").want(http.StatusOK).object()
	same(t, "state", before.text("state"), "current")
	same(t, "documents", before["documents"], any(3.0))
	s.send("POST", "/admin/index/rebuild", nil).want(http.StatusOK)
	same(t, "hits", len(s.find("quartz").data()), 1)
	after := s.get("/admin/index").want(http.StatusOK).object()
	same(t, "entries", after["entries"], before["entries"])
	same(t, "documents", after["documents"], before["documents"])
	s.newMember("admin").get("/admin/index").problem(403, errs.CodeForbidden, "")
}

// TestCostlySearchIsRefused searches for a phrase that could begin at each word of each file.
func TestCostlySearchIsRefused(t *testing.T) {
	t.Parallel()
	own := ownGateway(t, repository.Config{}, handlers.Config{})
	s := own.newSpace(nil)
	set := s.newSet()
	const files = 10
	for n := range files {
		s.upload(set, fmt.Sprintf("file%d.txt", n), strings.Repeat("a ", 32<<10))
	}
	same(t, "found by a word", len(s.find("a").data()), files)
	phrase := `"` + strings.Repeat("a ", 245) + `"`
	s.bad("GET", "/search?q="+url.QueryEscape(phrase), nil).problem(http.StatusBadRequest, errs.CodeInvalidParameter, "q")
	same(t, "found afterwards", len(s.find("a").data()), files)
}
