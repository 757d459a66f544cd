package pages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/verify/e2e/browser"
)

// menu chooses an entry of the menu "⋯" of the page with the mouse.
func menu(v *browser.Visitor, entry string) {
	v.T.Helper()
	menuOf(v, "More actions", entry)
}

// menuOf chooses an entry of the menu with this label with the mouse.
func menuOf(v *browser.Visitor, label, entry string) {
	v.T.Helper()
	v.Press(label)
	browser.Click(v, chromedp.Search(fmt.Sprintf(`//*[starts-with(@role, "menuitem")][normalize-space()=%q]`, entry)))
}

// unfold opens a collapsed section.
func unfold(v *browser.Visitor, title string) {
	v.T.Helper()
	browser.Click(v, chromedp.Search(fmt.Sprintf(`//details[not(@open)]/summary[starts-with(normalize-space(), %q)]`, title)))
}

// annotated creates a set with a description, metadata and files.
func annotated(t *testing.T, s *browser.Site) (did, sid, rid string) {
	t.Helper()
	did, sid = s.NewSet(t)
	describe(t, s, "PUT", "/sets/"+sid, `{"creators":[{"name":"Curie, Marie","orcid":"0000-0002-1825-0097"}],"publicationYear":2026,"tags":["raw","deep ice"],"properties":{"laser":{"value":532,"unit":"nm"},"operator":"Ada"}}`)
	s.Do(t, "PUT", "/sets/"+sid, map[string]string{"description": strings.Repeat("What the laser saw in the cold room, and what it did not see. ", 8)})
	return did, sid, s.Put(t, sid, "a.txt", "raw/b.txt", "raw/c.txt")[0]
}

// On a phone, the list of files of a set begins in the first half of the screen. On a wide screen,
// the list uses the full width, and prose does not.
func TestFilesComeFirst(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid, rid := annotated(t, s)
	v := s.SignedIn(t, s.Person(t, "anna", "admin", did).Key, "/")
	for name, path := range map[string]string{"dataspace": "/dataspaces/" + did, "set": "/sets/" + sid, "folder": "/sets/" + sid + "?folder=raw%2F", "resource": "/resources/" + rid} {
		v.Size(360, 740)
		v.At(path)
		v.Loaded()
		fits(v)
		if name != "resource" {
			v.Until(`document.querySelector(".list .body .row a")`)
			if top := browser.Get(v, chromedp.Evaluate[float64](`document.querySelector(".list .body .row").getBoundingClientRect().top`)); top >= 370 {
				t.Errorf("the rows of the %s begin at %v px, want less than 370", name, top)
			}
		}
		v.Shot("controls-" + name + "-360")
		v.Size(2560, 1200)
		v.At(path)
		v.Loaded()
		v.Shot("controls-" + name + "-2560")
		v.Size(1280, 800)
		v.At(path)
		v.Loaded()
		v.Shot("controls-" + name + "-1280")
	}
	v.Size(2560, 1200)
	v.At("/sets/" + sid)
	v.Until(`document.querySelector(".list")?.clientWidth > 2300 && document.querySelector(".fold .prose").clientWidth < 700`)
}

// A menu supports the keyboard as its ARIA pattern requires, and returns the focus. A collapsed
// section keeps its state.
func TestMenuAndFold(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid, _ := annotated(t, s)
	script := browser.Axe(t)
	v := s.SignedIn(t, s.Person(t, "anna", "admin", did).Key, "/sets/"+sid)
	v.Sees("About this set")
	focused := func(label string) {
		t.Helper()
		v.Until(fmt.Sprintf(`(document.activeElement.ariaLabel || document.activeElement.innerText.trim()) === %q`, label))
	}
	v.Do(chromedp.Focus(browser.Xpath("button", "More actions")), chromedp.KeyEvent(kb.ArrowDown))
	focused("Upload a folder")
	v.Do(chromedp.KeyEvent(kb.ArrowUp))
	focused("Delete")
	v.Do(chromedp.KeyEvent(kb.Home), chromedp.KeyEvent("m"))
	focused("Metadata table")
	looks(v, "menu", script)
	v.Size(1280, 800)
	v.Do(chromedp.KeyEvent(kb.Escape))
	focused("More actions")
	v.Until(`!document.querySelector("[role=menu]")`)
	v.Do(chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent("e"), chromedp.KeyEvent(kb.Enter)) // the letter selects Edit in the menu, and does not act as the shortcut of the page
	v.Sees("Edit the set")
	v.Do(chromedp.KeyEvent(kb.Escape))
	focused("More actions")
	v.Press("Share")
	focused("Make a link …")
	browser.Click(v, chromedp.CSS("h1"))
	v.Until(`!document.querySelector("[role=menu]")`)

	v.SeesNot(sid)
	unfold(v, "For programs")
	v.Sees(sid, "curl -H")
	looks(v, "programs", script)
	v.Size(1280, 800)
	v.At("/sets/" + sid)
	v.Sees(sid)
}

// The pages use the theme of the system, unless another theme is selected.
func TestTheme(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	v := s.SignedIn(t, s.Key(), "/account")
	dark := func(is bool) {
		t.Helper()
		v.Until(fmt.Sprintf(`(getComputedStyle(document.body.parentElement).backgroundColor === "rgb(20, 23, 26)") === %t`, is))
	}
	v.Theme("dark")
	dark(true)
	v.Theme("light")
	dark(false)
	menuOf(v, "Colours", "Dark")
	dark(true)
	v.At("/account")
	dark(true)
	menuOf(v, "Colours", "Colours of the system")
	dark(false)
	v.Theme("dark")
	dark(true)
}

// small returns the controls that are smaller than 24 px and closer than 24 px to another one (WCAG
// 2.5.8), except links in a sentence.
const small = `(() => {
	const shown = [...document.querySelectorAll("a[href], button, select, summary, input:not([type=hidden]), [role^=menuitem]")].filter((e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !e.matches(".skip, [hidden]"));
	const boxes = shown.map((e) => e.getBoundingClientRect());
	const inText = (e) => e.matches("a") && getComputedStyle(e).display === "inline" && [...e.parentElement.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim().length > 1);
	return shown.filter((e, i) => {
		const b = boxes[i];
		if (!b.width || !b.height || (b.width >= 24 && b.height >= 24) || inText(e)) return false;
		const x = b.left + b.width / 2, y = b.top + b.height / 2;
		return boxes.some((o, j) => {
			if (i === j || !o.width || shown[j].contains(e) || e.contains(shown[j])) return false;
			const tiny = o.width < 24 || o.height < 24;
			const dx = tiny ? Math.abs(o.left + o.width / 2 - x) : Math.max(o.left - x, 0, x - o.right);
			const dy = tiny ? Math.abs(o.top + o.height / 2 - y) : Math.max(o.top - y, 0, y - o.bottom);
			return Math.hypot(dx, dy) < (tiny ? 24 : 12);
		});
	}).map((e) => e.outerHTML.slice(0, 120) + " " + Math.round(e.getBoundingClientRect().width) + "×" + Math.round(e.getBoundingClientRect().height));
})()`

// Every control is large enough, or has enough space around it, for touch and for unsteady hands.
func TestControlSizes(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid, rid := annotated(t, s)
	v := s.SignedIn(t, s.Key(), "/")
	for _, width := range []int64{360, 1280} {
		v.Size(width, 800)
		for _, path := range []string{"/", "/dataspaces/" + did, "/dataspaces/" + did + "?view=files", "/dataspaces/" + did + "/members", "/sets/" + sid, "/sets/" + sid + "?folder=raw%2F&order=name", "/resources/" + rid, "/links", "/trash", "/usage", "/account", "/search?q=a"} {
			v.At(path)
			v.Loaded()
			for _, control := range browser.Get(v, chromedp.Evaluate[[]string](small)) {
				t.Errorf("%s at %d px: %s", path, width, control)
			}
		}
	}
}
