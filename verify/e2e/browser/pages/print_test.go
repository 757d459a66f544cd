package pages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// rowsDuringPrint returns the number of rendered rows of a list while the page is printed, after
// the listeners of beforeprint, and the number of known rows.
const rowsDuringPrint = `(() => {
	dispatchEvent(new Event("beforeprint"));
	const rows = document.querySelectorAll(".list .body .row").length, open = [...document.querySelectorAll(".list .body .row")].filter((r) => r.innerText.trim() === "…").length;
	const count = +document.querySelector(".list .body").dataset.count;
	dispatchEvent(new Event("afterprint"));
	return [rows - open, count];
})()`

// A list is printed with all its rows. Afterwards only visible rows are rendered.
func TestPrintOfList(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	names := make([]string, 300)
	for i := range names {
		names[i] = fmt.Sprintf("run-%03d.txt", i)
	}
	s.Put(t, sid, names...)
	v := s.Visit(t)
	// Printing starts when the first row is rendered: the listener must exist by then.
	v.At("/sets/" + sid)
	v.SignIn(s.Key())
	v.Do(chromedp.Evaluate[chromedp.Void](`void new MutationObserver((_, watch) => {
		if (!document.querySelector(".list .body .row")) return;
		watch.disconnect();
		dispatchEvent(new Event("beforeprint"));
		window.atFirst = [document.querySelectorAll(".list .body .row").length, +document.querySelector(".list .body").dataset.count];
		dispatchEvent(new Event("afterprint"));
	}).observe(document.body, { childList: true, subtree: true })`))
	v.Follow("Usage")
	v.Sees("Over time")
	v.Do(chromedp.Evaluate[chromedp.Void](`history.back()`))
	v.Until(`window.atFirst?.[0] > 100 && window.atFirst[0] === window.atFirst[1]`)

	// After going back, the list is fetched again and has fewer rows for a while. Each time all
	// known rows are printed, and finally all 300.
	all := func(how string, print func() [2]int) {
		t.Helper()
		for range 10 {
			v.Until(`document.querySelector(".list .body")?.dataset.count === "300" && document.querySelector(".list .body").dataset.ended === "true" &&
				document.querySelectorAll(".list .body .row").length < 300`)
			got := print()
			if got[0] != got[1] {
				t.Fatalf("%s: %d of %d rows are printed", how, got[0], got[1])
			}
			if got[0] == 300 {
				return
			}
		}
		t.Errorf("%s: the list never had 300 rows", how)
	}
	all("the event", func() [2]int { return browser.Get(v, chromedp.Evaluate[[2]int](rowsDuringPrint)) })
	v.Do(chromedp.Evaluate[chromedp.Void](`void addEventListener("beforeprint", () => {
		window.onSheets = [document.querySelectorAll(".list .body .row").length, +document.querySelector(".list .body").dataset.count];
	})`))
	all("the browser", func() [2]int {
		if _, err := chromedp.Call(v.Context, page.PrintToPDF, page.PrintToPDFParams{}); err != nil {
			t.Fatal(err)
		}
		return browser.Get(v, chromedp.Evaluate[[2]int](`window.onSheets`))
	})

	v.OnPaper()
	v.Until(`getComputedStyle(document.querySelector(".bar")).display === "none"`)
	v.Until(`getComputedStyle(document.documentElement).colorScheme === "light"`)
}

// Ctrl+P loads the remaining rows of a long list, and then prints.
func TestPrintKeysLoadAllRows(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	names := make([]string, 1100)
	for i := range names {
		names[i] = fmt.Sprintf("run-%04d.txt", i)
	}
	s.Put(t, sid, names...)
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	v.Until(`document.querySelector(".list .foot").innerText.includes("1,100 entries")`)
	v.Do(chromedp.Evaluate[chromedp.Void](`{
		window.print = () => (window.printed = ` + rowsDuringPrint + `);
		const asked = new KeyboardEvent("keydown", { key: "p", ctrlKey: true, bubbles: true, cancelable: true });
		window.taken = !document.body.dispatchEvent(asked);
	}`))
	v.Until(`window.taken && window.printed?.[0] === 1100`)
	v.Until(`document.querySelectorAll(".list .body .row").length < 200`)
}

// A printed page contains the text of the record, its address and the addresses of its links,
// collapsed sections, and all rows, but no controls.
func TestPrintedRecord(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("pdftotext")
	if err != nil {
		t.Skip("pdftotext is not installed")
	}
	s := browser.Open(t)
	_, sid, _ := annotated(t, s)
	names := make([]string, 120)
	for i := range names {
		names[i] = fmt.Sprintf("run-%03d.txt", i)
	}
	s.Put(t, sid, names...)
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	v.Theme("dark")
	v.Until(`document.querySelector(".list .body")?.dataset.ended === "true"`)
	browser.Click(v, chromedp.Search(`//summary[starts-with(normalize-space(), "About this set")]`)) // collapsed sections are printed, too
	printed, err := chromedp.Call(v.Context, page.PrintToPDF, page.PrintToPDFParams{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.pdf")
	if err := os.WriteFile(file, printed.Data, 0o600); err != nil {
		t.Fatal(err)
	}
	output, err := exec.CommandContext(t.Context(), program, file, "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	text := string(output)
	for _, want := range append(names, "Runs of 2026", "What the laser saw", s.Field(t, "/sets/"+sid, "url"), "<https://orcid.org/0000-", "532 nm", "122 entries") {
		if !strings.Contains(text, want) {
			t.Errorf("the printed page lacks %q", want)
		}
	}
	for _, control := range []string{"Upload files", "Share", "Sign out", "Filter", "Describe", "Edit metadata", "Name begins with"} {
		if strings.Contains(text, control) {
			t.Errorf("the printed page contains %q", control)
		}
	}
	v.OnPaper()
	v.Until(`getComputedStyle(document.documentElement).backgroundColor === "rgb(255, 255, 255)"`)
}
