package pages

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/verify/e2e/browser"
)

// The guide requires no session, and its commands contain the address of the service.
func TestGuideWithoutSession(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	v := s.Visit(t)
	v.At("/")
	v.Follow("Help")
	v.Until(`location.pathname === "/docs"`)
	v.Sees("Upload a folder", s.Origin+"/v1/users/me", `BASE = "`+s.Origin+`/v1"`)
	v.SeesNot("data.example.org")
	v.SeesNot("**dataspace")
	v.Follow("Give a colleague access")
	v.Until(`location.hash === "#give-a-colleague-access" && document.querySelector(location.hash).getBoundingClientRect().top < 100`)
	v.Shots("guide")
	v.At("/docs#%E0%A4%A") // malformed
	v.Sees("Upload a folder")
	v.At("/docs#keys") // a link to a section
	v.Until(`document.querySelector("h2#keys")?.getBoundingClientRect().top < 100 && scrollY > 500`)
}

// Help lists the pages of the manual, and their links lead to each other.
func TestManualWithoutSession(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	v := s.Visit(t)
	v.At("/docs")
	v.Follow("Manual")
	v.Until(`location.pathname === "/docs/manual" && document.querySelectorAll(".prose li").length > 20`)
	v.Follow("operations")
	v.Until(`location.pathname === "/docs/operations" && document.querySelector("h1").textContent === "Operations"`)
	v.Sees("labshelf backup")
	v.Follow("config.example.toml")
	v.Until(`location.pathname === "/docs/config"`)
	v.Sees(`listen = "127.0.0.1:8080"`)
	v.At("/docs/csv")
	v.Follow("known")
	v.Until(`location.pathname === "/docs/search" && document.querySelector("#units")?.getBoundingClientRect().top < 100`)
	v.At("/docs/audit")
	v.Sees("Merkle tree")
	v.Until(`document.querySelector("a[href='/docs/examples/verify_audit.py']") !== null`)
	v.Expect("status of 404")
	v.At("/docs/nosuch")
	v.Sees("there is nothing at this address")
}

// The reference shows every operation of the OpenAPI document, and opens the operation in the hash
// of the address.
func TestReferenceHasAllOperations(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	v := s.Visit(t)
	v.At("/docs/interface")
	v.Sees("API reference", "Harvesting")
	want := operations(t)
	got := strings.Split(browser.Get(v, chromedp.Evaluate[string](
		`[...document.querySelectorAll(".operation")].filter((o) => o.querySelector(".method").textContent !== "object").map((o) => o.id).join(" ")`)), " ")
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the page has %d operations:\n%v\nwant %d:\n%v", len(got), got, len(want), want)
	}
	v.Shots("reference")

	v.At("/docs/interface#createResource")
	v.Until(`document.querySelector("#createResource").open`)
	v.Sees("-F setId=", "-F file=@letter.xml "+s.Origin+"/v1/resources", "For editors and admins of the dataspace.", "digest_mismatch")
	v.SeesNot("data.example.org")
	v.SeesNot("$ref")
	v.Shots("operation")
}

// The filter applies to all operations, is stored in the address, and shows the number of matches.
func TestReferenceFilter(t *testing.T) {
	t.Parallel()
	v := browser.Open(t).Visit(t)
	v.At("/docs/interface")
	v.Sees("Filter the operations")
	v.Do(chromedp.SendKeys(browser.Field("Filter the operations"), "archive"))
	v.Until(`location.search === "?q=archive" && document.querySelectorAll("#downloadArchive").length === 1 && !document.querySelector("#createUser")`)
	v.Sees("1 of ")
	v.Do(chromedp.SendKeys(browser.Field("Filter the operations"), kb.Backspace+"xx"))
	v.Sees("No operations match")
}

// Every entry and its nested sections can be opened and rendered.
func TestReferenceOpensEverything(t *testing.T) {
	t.Parallel()
	v := browser.Open(t).Visit(t)
	v.At("/docs/interface")
	v.Sees("Harvesting")
	// Each entry is opened alone on the page: laying out all entries for each one would take most
	// of the time.
	ids := strings.Split(browser.Get(v, chromedp.Evaluate[string](`[...document.querySelectorAll(".operation")].map((o) => (o.style.display = "none", o.id)).join(" ")`)), " ")
	for _, id := range ids {
		shown := browser.Get(v, chromedp.Evaluate[string](`(async () => {
			const entry = document.getElementById("`+id+`");
			entry.style.display = "";
			for (let closed; (closed = [entry, ...entry.querySelectorAll("details")].filter((d) => !d.open)).length; ) {
				const opened = closed.map((d) => new Promise((done) => d.addEventListener("toggle", done, { once: true })));
				closed.forEach((d) => d.firstElementChild.click());
				await Promise.all(opened);
				await new Promise((done) => requestAnimationFrame(done)); // then it is rendered
			}
			const shown = entry.innerText;
			entry.style.display = "none";
			return shown;
		})()`, chromedp.EvalAwaitPromise))
		if strings.Count(shown, "\n") < 4 {
			t.Errorf("%s is empty: %q", id, shown)
		}
		for _, bad := range []string{"undefined", "[object Object]", "$ref", "NaN"} {
			if at := strings.Index(shown, bad); at >= 0 {
				t.Errorf("%s shows %q in %q", id, bad, shown[max(0, at-200):min(len(shown), at+100)])
			}
		}
	}
}

// operations returns the ids of all operations of the OpenAPI document.
func operations(t *testing.T) (ids []string) {
	t.Helper()
	text, err := os.ReadFile("../../../../handlers/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	for _, path := range document.Paths {
		for method, raw := range path {
			var operation struct{ OperationID string }
			if method == "parameters" {
				continue
			}
			if err := json.Unmarshal(raw, &operation); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, operation.OperationID)
		}
	}
	slices.Sort(ids)
	return ids
}
