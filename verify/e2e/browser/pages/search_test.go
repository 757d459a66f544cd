package pages

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// searches types a query into the search field, which every page has, with the keys / and Enter.
func searches(v *browser.Visitor, q string) {
	v.T.Helper()
	v.Do(chromedp.Evaluate[chromedp.Void](`void document.activeElement.blur()`))
	v.Key("/", "Slash", "/")
	v.Until(`document.activeElement.name === "q" && document.activeElement.selectionEnd - document.activeElement.selectionStart === document.activeElement.value.length`)
	v.Do(chromedp.KeyEvent(q))
	v.Until(fmt.Sprintf(`document.activeElement.value === %q`, q))
	v.Key("Enter", "Enter", "\r")
	v.Until(fmt.Sprintf(`location.pathname === "/search" && new URLSearchParams(location.search).get("q") === %q`, q))
}

// finds waits until the page lists exactly these hits, in any order. The index follows changes
// within a second.
func finds(v *browser.Visitor, names ...string) {
	v.T.Helper()
	v.Until(fmt.Sprintf(`(() => {
		const shown = [...document.querySelectorAll(".list.hits[aria-busy=false] .body .row")].map((r) => r.querySelector("a").lastChild.textContent.trim()).sort().join("|");
		const want = %q.split("|").sort().join("|");
		if (shown !== want) dispatchEvent(new Event("focus"));
		return shown === want;
	})()`, strings.Join(names, "|")))
}

// A search works from any page. Counts narrow the hits down, and the address contains the search.
func TestSearch(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	ids := s.Put(t, sid, "ice-core-1.csv", "ice-core-2.csv", "notes.txt")
	describe(t, s, "PATCH", "/resources/"+ids[0], `{"tags":["deep ice","raw"],"properties":{"temperature":{"value":-5,"unit":"°C"}}}`)
	describe(t, s, "PATCH", "/resources/"+ids[2], `{"tags":["raw"],"properties":{"about":"the ice"}}`)
	describe(t, s, "PUT", "/sets/"+sid, `{"creators":[{"name":"Curie, Marie","orcid":"0000-0002-1825-0097"}],"publicationYear":2026}`)
	v := s.SignedIn(t, s.Key(), "/dataspaces/"+did+"/members")
	searches(v, "ice")
	finds(v, "ice-core-1.csv", "ice-core-2.csv", "notes.txt")
	v.Sees("3 hits", "property", "Laser lab / Runs of 2026")
	v.Shots("search")
	v.Until(`document.documentElement.scrollWidth <= innerWidth`)
	v.Follow("raw 2")
	finds(v, "ice-core-1.csv", "notes.txt")
	v.IsAt("/search?q=ice+tag%3Araw")
	v.Follow("deep ice 1")
	finds(v, "ice-core-1.csv")
	v.Until(`document.querySelector(".search input").value === 'ice tag:raw tag:"deep ice"'`)
	v.Do(chromedp.Navigate(browser.Get(v, chromedp.Evaluate[string](`location.href`)))) // like opening a bookmark
	finds(v, "ice-core-1.csv")
	v.Follow("raw 1") // removes the condition again
	v.IsAt(`/search?q=ice+tag%3A%22deep+ice%22`)
	v.Choose("Order", "name")
	v.IsAt(`/search?q=ice+tag%3A%22deep+ice%22&order=name`)
	v.Follow("File ice-core-1.csv")
	v.Sees("-5 °C")
	v.Follow("raw")
	v.IsAt("/search?q=tag%3Araw")
	finds(v, "ice-core-1.csv", "notes.txt")
	searches(v, `temperature:>-10C`)
	finds(v, "ice-core-1.csv")
	searches(v, "creator:curie")
	finds(v, "Runs of 2026")
	v.Follow("2026 1") // the year of publication
	v.IsAt("/search?q=creator%3Acurie+year%3A2026")
	finds(v, "Runs of 2026")
}

// An empty search explains how to search. A search without hits names the conditions to omit, and
// an invalid search shows its error.
func TestSearchWithoutHits(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	s.Put(t, sid, "a.txt")
	v := s.SignedIn(t, s.Key(), "/search", "status of 400")
	v.Sees("Finds dataspaces, sets and files", "temperature:>20C")
	v.Shots("search-empty")
	searches(v, "laser nothing")
	v.Sees("Nothing found", "Search without laser, nothing?")
	v.Shots("search-no-hits")
	v.Follow("nothing")
	finds(v, "Laser lab", "Runs of 2026", "a.txt")
	v.At("/search?" + url.Values{"q": {`"open`}}.Encode())
	v.Until(`document.querySelector("main [role=alert]")`)
	v.Shot("search-refused")
	v.At("/search?q=" + strings.Repeat("x", 501))
	v.Until(`document.querySelector("main [role=alert]")`)
}

// Users find only what they can read, and counts reveal nothing else.
func TestSearchRevealsNothing(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	s.Put(t, sid, "secret.txt")
	mary := s.Person(t, "mary", "", did)
	v := s.SignedIn(t, mary.Key, "/search?q=secret")
	v.Sees("Nothing found")
	s.Do(t, "POST", "/privileges", map[string]string{"userId": mary.ID, "dataspaceId": did, "role": "member"})
	finds(v, "secret.txt")
}

// The key / types a character in a field, and does nothing behind a dialog.
func TestSearchKey(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	menu(v, "Edit")
	v.Until(`document.querySelector("dialog textarea")`)
	v.Types("title", "a/b")
	v.Until(`document.activeElement.value === "a/b"`)
	v.Do(chromedp.Focus(browser.Xpath("button", "Cancel")))
	v.Key("/", "Slash", "/")
	v.Until(`document.activeElement.innerText.trim() === "Cancel"`)
	saved(v)
	v.Key("/", "Slash", "/")
	v.Until(`document.activeElement.name === "q"`)
}
