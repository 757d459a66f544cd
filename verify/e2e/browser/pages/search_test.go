package browser

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// searches types a query into the field of every page, by the key / and Enter.
func (v *visitor) searches(q string) {
	v.t.Helper()
	v.do(chromedp.Evaluate[chromedp.Void](`void document.activeElement.blur()`))
	v.key("/", "Slash", "/")
	v.until(`document.activeElement.name === "q" && document.activeElement.selectionEnd - document.activeElement.selectionStart === document.activeElement.value.length`)
	v.do(chromedp.KeyEvent(q))
	v.until(fmt.Sprintf(`document.activeElement.value === %q`, q))
	v.key("Enter", "Enter", "\r")
	v.until(fmt.Sprintf(`location.pathname === "/search" && new URLSearchParams(location.search).get("q") === %q`, q))
}

// finds waits until the page lists exactly these hits, in any order: the index follows changes
// within a second.
func (v *visitor) finds(names ...string) {
	v.t.Helper()
	v.until(fmt.Sprintf(`(() => {
		const shown = [...document.querySelectorAll(".list.hits[aria-busy=false] .body .row")].map((r) => r.querySelector("a").lastChild.textContent.trim()).sort().join("|");
		const want = %q.split("|").sort().join("|");
		if (shown !== want) dispatchEvent(new Event("focus"));
		return shown === want;
	})()`, strings.Join(names, "|")))
}

// A word is found from any page; counts narrow the hits down, and the address keeps the search.
func TestSearch(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	ids := s.put(t, sid, "ice-core-1.csv", "ice-core-2.csv", "notes.txt")
	s.describe(t, "PATCH", "/resources/"+ids[0], `{"tags":["deep ice","raw"],"properties":{"temperature":{"value":-5,"unit":"°C"}}}`)
	s.describe(t, "PATCH", "/resources/"+ids[2], `{"tags":["raw"],"properties":{"about":"the ice"}}`)
	s.describe(t, "PUT", "/sets/"+sid, `{"creators":[{"name":"Curie, Marie","orcid":"0000-0002-1825-0097"}],"publicationYear":2026}`)
	v := s.signedIn(t, s.Key(), "/dataspaces/"+did+"/members")
	v.searches("ice")
	v.finds("ice-core-1.csv", "ice-core-2.csv", "notes.txt")
	v.sees("3 hits", "property", "Laser lab / Runs of 2026")
	v.shots("search")
	v.until(`document.documentElement.scrollWidth <= innerWidth`)
	v.follow("raw 2")
	v.finds("ice-core-1.csv", "notes.txt")
	v.isAt("/search?q=ice+tag%3Araw")
	v.follow("deep ice 1")
	v.finds("ice-core-1.csv")
	v.until(`document.querySelector(".search input").value === 'ice tag:raw tag:"deep ice"'`)
	v.do(chromedp.Navigate(get(v, chromedp.Evaluate[string](`location.href`)))) // as a bookmark does
	v.finds("ice-core-1.csv")
	v.follow("raw 1") // which leaves it out again
	v.isAt(`/search?q=ice+tag%3A%22deep+ice%22`)
	v.choose("Order", "name")
	v.isAt(`/search?q=ice+tag%3A%22deep+ice%22&order=name`)
	v.follow("File ice-core-1.csv")
	v.sees("-5 °C")
	v.follow("raw")
	v.isAt("/search?q=tag%3Araw")
	v.finds("ice-core-1.csv", "notes.txt")
	v.searches(`temperature:>-10C`)
	v.finds("ice-core-1.csv")
	v.searches("creator:curie")
	v.finds("Runs of 2026")
	v.follow("2026 1") // the year of publication
	v.isAt("/search?q=creator%3Acurie+year%3A2026")
	v.finds("Runs of 2026")
}

// An empty search shows how to search, one without hits which condition to leave out, and a wrong
// one what is wrong.
func TestSearchWithoutHits(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	s.put(t, sid, "a.txt")
	v := s.signedIn(t, s.Key(), "/search", "status of 400")
	v.sees("Finds dataspaces, sets and files", "temperature:>20C")
	v.shots("search-empty")
	v.searches("laser nothing")
	v.sees("Nothing found", "Search without laser, nothing?")
	v.shots("search-no-hits")
	v.follow("nothing")
	v.finds("Laser lab", "Runs of 2026", "a.txt")
	v.at("/search?" + url.Values{"q": {`"open`}}.Encode())
	v.until(`document.querySelector("main [role=alert]")`)
	v.shot("search-refused")
	v.at("/search?q=" + strings.Repeat("x", 501))
	v.until(`document.querySelector("main [role=alert]")`)
}

// Users find what they may read, and no count tells of anything else.
func TestSearchTellsNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	s.put(t, sid, "secret.txt")
	mary := s.person(t, "mary", "", did)
	v := s.signedIn(t, mary.key, "/search?q=secret")
	v.sees("Nothing found")
	s.call(t, "POST", "/privileges", map[string]string{"userId": mary.id, "dataspaceId": did, "role": "member"})
	v.finds("secret.txt")
}

// The key / is a character where something is typed, and does nothing behind a dialog.
func TestSearchKey(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	v.menu("Edit")
	v.until(`document.querySelector("dialog textarea")`)
	v.types("title", "a/b")
	v.until(`document.activeElement.value === "a/b"`)
	v.do(chromedp.Focus(xpath("button", "Cancel")))
	v.key("/", "Slash", "/")
	v.until(`document.activeElement.innerText.trim() === "Cancel"`)
	v.saved()
	v.key("/", "Slash", "/")
	v.until(`document.activeElement.name === "q"`)
}
