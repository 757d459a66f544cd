package browser

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Who has no key yet reads from the sign-in page how things are done, with commands that can be copied as they are.
func TestGuideForStrangers(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.visit(t)
	v.at("/")
	v.follow("Help")
	v.until(`location.pathname === "/docs"`)
	v.sees("Put a folder in", s.origin+"/v1/users/me", `BASE = "`+s.origin+`/v1"`)
	v.seesNot("data.example.org")
	v.seesNot("**dataspace")
	v.follow("Give a colleague access")
	v.until(`location.hash === "#give-a-colleague-access" && document.querySelector(location.hash).getBoundingClientRect().top < 100`)
	pictures(v, "guide")
	v.at("/docs#%E0%A4%A") // as nobody should
	v.sees("Put a folder in")
	v.at("/docs#keys") // as a colleague sends it
	v.until(`document.querySelector("h2#keys")?.getBoundingClientRect().top < 100 && scrollY > 500`)
}

// The reference shows every operation of the document that the service itself gives, and opens the one that the address names.
func TestReferenceIsTheDocument(t *testing.T) {
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
	pictures(v, "reference")

	v.at("/docs/interface#createResource")
	v.until(`document.querySelector("#createResource").open`)
	v.sees("-F setId=", "-F file=@letter.xml "+s.origin+"/v1/resources", "For editors and admins of the dataspace.", "digest_mismatch")
	v.seesNot("data.example.org")
	v.seesNot("$ref")
	pictures(v, "operation")
}

// The filter covers all operations, is a part of the address, and says how many it shows.
func TestReferenceFilter(t *testing.T) {
	t.Parallel()
	v := open(t).visit(t)
	v.at("/docs/interface")
	v.sees("Filter the operations below")
	v.do(chromedp.SendKeys(field("Filter the operations below"), "archive"))
	v.until(`location.search === "?q=archive" && document.querySelectorAll("#downloadArchive").length === 1 && !document.querySelector("#createUser")`)
	v.sees("1 of ")
	v.do(chromedp.SendKeys(field("Filter the operations below"), kb.Backspace+"xx"))
	v.sees("No operation is called so")
}

// Every entry can be opened with all that is in it: a part of the document that the page cannot draw would fail here.
func TestReferenceOpensEverything(t *testing.T) {
	t.Parallel()
	v := open(t).visit(t)
	v.at("/docs/interface")
	v.sees("Harvesting")
	ids := strings.Split(get(v, chromedp.Evaluate[string](`[...document.querySelectorAll(".operation")].map((o) => o.id).join(" ")`)), " ")
	for _, id := range ids {
		shown := get(v, chromedp.Evaluate[string](`(async () => {
			const entry = document.getElementById("`+id+`");
			for (let closed; (closed = [entry, ...entry.querySelectorAll("details")].filter((d) => !d.open)).length; ) {
				closed.forEach((d) => d.firstElementChild.click());
				await new Promise((done) => setTimeout(done, 20)); // it is drawn after that
			}
			const shown = entry.innerText;
			entry.firstElementChild.click(); // all at once would be very much
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

// operations are the ids of all operations of the document.
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

// pictures takes one in each colour, and one each narrow and wide, where pictures are wanted.
func pictures(v *visitor, name string) {
	v.t.Helper()
	if os.Getenv("LABSHELF_SHOTS") == "" {
		return
	}
	for _, window := range []struct {
		name          string
		width, height int64
		theme         string
	}{{"light", 1280, 800, "light"}, {"dark", 1280, 800, "dark"}, {"narrow", 360, 740, "light"}, {"wide", 2560, 1200, "dark"}} {
		v.do(chromedp.EmulateViewport(window.width, window.height),
			chromedp.Evaluate[chromedp.Void](`document.documentElement.dataset.theme = "`+window.theme+`"`),
			chromedp.Evaluate[chromedp.Void](`location.hash && document.querySelector(location.hash).scrollIntoView()`))
		v.do(chromedp.Sleep(300 * time.Millisecond))
		v.shot(name + "-" + window.name)
	}
	v.do(chromedp.EmulateViewport(1280, 800))
}
