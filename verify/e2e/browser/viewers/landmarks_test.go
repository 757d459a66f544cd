package viewers

import (
	"testing"

	"labshelf/verify/e2e/browser"
)

// Pages keep three rules of axe-core below its serious ones: targets have a size, and
// headers and landmarks have names.
func TestTargetsHeadersAndLandmarks(t *testing.T) {
	t.Parallel()
	script := browser.Axe(t)
	l := openViewer(t)
	fails := func(name string) {
		t.Helper()
		l.Loaded()
		for _, f := range l.Audit(script, "target-size", "empty-table-header", "landmark-unique") {
			t.Errorf("%s: %s: %s: %s", name, f.ID, f.Help, f.Where)
		}
	}
	l.file("a.json", `{"a": {"b": [1, 2, {"c": 3}], "d": {}}, "e": [[1], [2]]}`)
	l.shows("json", "*")
	l.Until(`document.querySelector(".tree summary")`)
	fails("JSON")
	l.file("a.csv", "second,volt\n0,1\n1,2\n2,4\n")
	l.shows("table", "*")
	fails("a table")
	l.file("a.md", "# A\n\n| a |\n|---|\n| 1 |\n\n| a |\n|---|\n| 1 |\n")
	l.shows("markdown", "*")
	fails("Markdown")
	for _, name := range []string{"made-nexus.h5", "arange.fits"} {
		l.file(name, browser.TestFile(t, "sight", name))
		l.Until(`document.querySelector(".preview .side, .preview canvas")`)
		fails(name)
	}
	for _, path := range []string{"/sets/" + l.set, "/", "/search?q=a", "/links", "/users", "/usage", "/trash", "/account", "/audit", "/service", "/docs", "/docs/interface"} {
		l.GoTo(path)
		fails(path)
	}
}
