package browser

import "testing"

// Pages keep three rules of axe-core below its serious ones: targets have a size, and
// headers and landmarks have names.
func TestTargetsHeadersAndLandmarks(t *testing.T) {
	t.Parallel()
	script := axe(t)
	l := openViewer(t)
	fails := func(name string) {
		t.Helper()
		l.loaded()
		for _, f := range l.audit(script, "target-size", "empty-table-header", "landmark-unique") {
			t.Errorf("%s: %s: %s: %s", name, f.ID, f.Help, f.Where)
		}
	}
	l.file("a.json", `{"a": {"b": [1, 2, {"c": 3}], "d": {}}, "e": [[1], [2]]}`)
	l.shows("json", "*")
	l.until(`document.querySelector(".tree summary")`)
	fails("JSON")
	l.file("a.csv", "second,volt\n0,1\n1,2\n2,4\n")
	l.shows("table", "*")
	fails("a table")
	l.file("a.md", "# A\n\n| a |\n|---|\n| 1 |\n\n| a |\n|---|\n| 1 |\n")
	l.shows("markdown", "*")
	fails("Markdown")
	for _, name := range []string{"made-nexus.h5", "arange.fits"} {
		l.file(name, testFile(t, "sight", name))
		l.until(`document.querySelector(".preview .side, .preview canvas")`)
		fails(name)
	}
	for _, path := range []string{"/sets/" + l.set, "/", "/search?q=a", "/links", "/users", "/usage", "/trash", "/account", "/audit", "/service", "/docs", "/docs/interface"} {
		l.at(path)
		fails(path)
	}
}
