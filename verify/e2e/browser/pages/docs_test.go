package browser

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The guide needs no session, and its commands contain the address of the service.
func TestGuideWithoutSession(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.visit(t)
	v.at("/")
	v.follow("Help")
	v.until(`location.pathname === "/docs"`)
	v.sees("Upload a folder", s.origin+"/v1/users/me", `BASE = "`+s.origin+`/v1"`)
	v.seesNot("data.example.org")
	v.seesNot("**dataspace")
	v.follow("Give a colleague access")
	v.until(`location.hash === "#give-a-colleague-access" && document.querySelector(location.hash).getBoundingClientRect().top < 100`)
	v.shots("guide")
	v.at("/docs#%E0%A4%A") // malformed
	v.sees("Upload a folder")
	v.at("/docs#keys") // a link to a section
	v.until(`document.querySelector("h2#keys")?.getBoundingClientRect().top < 100 && scrollY > 500`)
}

// Help lists the pages of the manual, and links between them lead from page to page.
func TestManualWithoutSession(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.visit(t)
	v.at("/docs")
	v.follow("Manual")
	v.until(`location.pathname === "/docs/manual" && document.querySelectorAll(".prose li").length > 20`)
	v.follow("operations")
	v.until(`location.pathname === "/docs/operations" && document.querySelector("h1").textContent === "Operations"`)
	v.sees("labshelf backup")
	v.follow("config.example.toml")
	v.until(`location.pathname === "/docs/config"`)
	v.sees(`listen = "127.0.0.1:8080"`)
	v.at("/docs/csv")
	v.follow("known")
	v.until(`location.pathname === "/docs/search" && document.querySelector("#units")?.getBoundingClientRect().top < 100`)
	v.at("/docs/audit")
	v.sees("Merkle tree")
	v.until(`document.querySelector("a[href='/docs/examples/verify_audit.py']") !== null`)
	v.expect("status of 404")
	v.at("/docs/nosuch")
	v.sees("there is nothing at this address")
}

// The reference shows every operation of the OpenAPI document, and opens the one in the hash of the
// address.
func TestReferenceHasAllOperations(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.visit(t)
	v.at("/docs/interface")
	v.sees("Interface reference", "Harvesting")
	want := operations(t)
	got := strings.Split(get(v, chromedp.Evaluate[string](
		`[...document.querySelectorAll(".operation")].filter((o) => o.querySelector(".method").textContent !== "object").map((o) => o.id).join(" ")`)), " ")
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the page has %d operations:\n%v\nthe document %d:\n%v", len(got), got, len(want), want)
	}
	v.shots("reference")

	v.at("/docs/interface#createResource")
	v.until(`document.querySelector("#createResource").open`)
	v.sees("-F setId=", "-F file=@letter.xml "+s.origin+"/v1/resources", "For editors and admins of the dataspace.", "digest_mismatch")
	v.seesNot("data.example.org")
	v.seesNot("$ref")
	v.shots("operation")
}

// The filter covers all operations, is stored in the address, and shows the number of matches.
func TestReferenceFilter(t *testing.T) {
	t.Parallel()
	v := open(t).visit(t)
	v.at("/docs/interface")
	v.sees("Filter the operations")
	v.do(chromedp.SendKeys(field("Filter the operations"), "archive"))
	v.until(`location.search === "?q=archive" && document.querySelectorAll("#downloadArchive").length === 1 && !document.querySelector("#createUser")`)
	v.sees("1 of ")
	v.do(chromedp.SendKeys(field("Filter the operations"), kb.Backspace+"xx"))
	v.sees("No operations match")
}

// Every entry, with all that is nested in it, can be opened and rendered.
func TestReferenceOpensEverything(t *testing.T) {
	t.Parallel()
	v := open(t).visit(t)
	v.at("/docs/interface")
	v.sees("Harvesting")
	// Each is opened alone on the page: to lay out all of them for each takes most of the time.
	ids := strings.Split(get(v, chromedp.Evaluate[string](`[...document.querySelectorAll(".operation")].map((o) => (o.style.display = "none", o.id)).join(" ")`)), " ")
	for _, id := range ids {
		shown := get(v, chromedp.Evaluate[string](`(async () => {
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
	text, err := os.ReadFile("../../../handlers/openapi.json")
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
