package viewers

import (
	"fmt"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// goComments returns the comments that Go's scanner finds in a Go file.
func goComments(content string) (all []string) {
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(content)), []byte(content), nil, scanner.ScanComments)
	for {
		switch _, tok, text := s.Scan(); tok {
		case token.EOF:
			return all
		case token.COMMENT:
			all = append(all, text)
		}
	}
}

// Source code of other projects is shown with highlighting and unchanged lines.
func TestSourceOfFiles(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	for _, c := range []struct{ name, path, coloured string }{
		{"ring.go", "container/ring/ring.go", ".c-keyword"},
		{"runtime-gdb.py", "runtime/runtime-gdb.py", ".c-keyword"},
		{"gcc_util.c", "runtime/cgo/gcc_util.c", ".c-meta"},
		{"mksyscall.pl", "syscall/mksyscall.pl", ".c-keyword"},
		{"make.bash", "make.bash", ".c-comment"},
		{"style.css", "cmd/vendor/github.com/google/pprof/internal/driver/html/common.css", ".c-variable"},
		{"Makefile", "runtime/Makefile", ".c-comment"},
		{"Dockerfile", "crypto/internal/boring/Dockerfile", ".c-keyword"},
		{"go.yaml", "../src/simd/archsimd/_gen/simdgen/ops/MinMax/go.yaml", ".c-variable"},
		{"helloworld.f90", "cmd/cgo/internal/testfortran/testdata/helloworld/helloworld.f90", ".c-keyword"},
		{"configure", "make.bash", ".c-comment"}, // recognized by its first line
	} {
		t.Log(c.name)
		content := goFile(t, c.path)
		l.file(c.name, content)
		l.Until(fmt.Sprintf(`document.querySelector(".lines .text %s")`, c.coloured))
		if shown := browser.Get(l.Visitor, chromedp.Evaluate[string](`document.querySelector(".lines .text").textContent`)); shown != content {
			t.Errorf("%s is shown as\n%s", c.name, shown)
		}
		lines := strings.Count(strings.TrimSuffix(content, "\n"), "\n") + 1
		l.Until(fmt.Sprintf(`document.querySelector(".lines .numbers").textContent.trim().split("\n").at(-1) === "%d"`, lines))
		if c.name == "ring.go" {
			shown := browser.Get(l.Visitor, chromedp.Evaluate[[]string](`[...document.querySelectorAll(".lines .c-comment")].map((e) => e.textContent)`))
			if want := goComments(content); !slices.Equal(shown, want) {
				t.Errorf("the comments are %q; want %q", shown, want)
			}
		}
	}
}

// lineOf returns a line of a generated file.
func lineOf(n int) string { return fmt.Sprintf("value_%d = %d  # comment %d\n", n, n, n) }

// Each line has an address that opens the file at this line. It is set by a click on the line
// number, by a click with Shift for a range, and with the keyboard. Of 20,000 lines, only visible
// ones are highlighted.
func TestLineAddresses(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	var code, log strings.Builder
	for n := range 20_000 {
		code.WriteString(lineOf(n + 1))
		fmt.Fprintf(&log, "2026-11-24 run %d\n", n+1)
	}
	marks := func(from, to int, line func(int) string) {
		l.T.Helper()
		var want strings.Builder
		for n := from; n <= to; n++ {
			want.WriteString(line(n))
		}
		l.Until(fmt.Sprintf(`document.querySelector(".lines mark")?.textContent === %q`, want.String()))
		l.Until(`(() => {
			const { top, bottom } = document.querySelector(".lines mark").getBoundingClientRect();
			const box = document.querySelector(".lines").getBoundingClientRect();
			return top >= box.top && top < box.bottom && bottom > 0 && top < innerHeight;
		})()`)
	}
	file := l.put("long.py", code.String())
	l.At("/resources/" + file.ID + "#L15000-L15003")
	marks(15000, 15003, lineOf)
	l.Until(`document.querySelector(".lines mark .c-comment")?.textContent === "# comment 15000"`)
	if n := browser.Get(l.Visitor, chromedp.Evaluate[int](`document.querySelectorAll(".lines .text *").length`)); n > 6000 {
		t.Errorf("the visible lines have %d elements", n)
	}
	number := func(n int, shift bool) {
		l.T.Helper()
		l.Until(fmt.Sprintf(`[...document.querySelectorAll(".numbers a")].find((a) => a.textContent === "%d")
			?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, shiftKey: %v })) !== undefined`, n, shift))
	}
	number(15006, false)
	marks(15006, 15006, lineOf)
	l.Until(`location.hash === "#L15006"`)
	number(15008, true)
	marks(15006, 15008, lineOf)
	l.Until(`location.hash === "#L15006-L15008"`)
	l.Fill("Go to line", "12-20")
	l.Key("Enter", "Enter", "\r")
	marks(12, 20, lineOf)
	l.Until(`document.activeElement.matches(".goto input") && document.activeElement.value === "12-20"`)
	l.Until(`location.hash === "#L12-L20"`)
	l.Shots("lines")
	// A text that is loaded in parts is loaded up to the line in the address.
	text := l.put("run.log", log.String())
	l.At("/resources/" + text.ID + "#L19000")
	marks(19000, 19000, func(n int) string { return fmt.Sprintf("2026-11-24 run %d\n", n) })
	l.Until(`document.querySelector(".lines .text span span") === null`)
	// JSON is shown as a tree, unless the address names a line.
	tree := l.put("a.json", "{\n\"a\": 1\n}\n")
	l.At("/resources/" + tree.ID + "#L2")
	marks(2, 2, func(int) string { return "\"a\": 1\n" })
}

// Source files that are too large, broken or hostile are shown without highlighting, with the
// reason. They run no code and do not block the page.
func TestSourceOfHostileFiles(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.shortTimeout()
	all := strings.Join(append(slices.Clone(browser.Hostile), browser.Payloads...), "\n")
	for _, c := range []struct{ name, content, says string }{
		{"slow.toml", strings.Repeat(strings.Repeat("a", 9_900)+"\n", 40), "was stopped after 20 s"}, // searching for an end would take about 30 s
		{"wide.js", "var a = [" + strings.Repeat("1,", 20_000) + "]\n", "it has very long lines"},
		{"many.r", strings.Repeat("x <- 1\n", 20_001), "it has many lines"},
		{"large.c", strings.Repeat("int a = 1; /* a comment that makes it long */\n", 25_000), "the file is large"},
		{"deep.lua", strings.Repeat("{", 9_000) + "\n", "1 line"},
		{"unclosed.py", "x = \"\"\"" + all, "lines"},
		{"a.html", "<!doctype html>" + all, "lines"}, {"a.js", "`${`${" + all, "lines"}, {"a.tex", all, "lines"}, {"a.yaml", all, "lines"},
		{"latin.f90", "! caf\xe9\nprint *, 1\nend\n", "Latin-1"},
	} {
		t.Log(c.name)
		l.file(c.name, c.content)
		l.shows("text", ".lines .text")
		l.Sees(c.says)
		l.Until(`document.querySelector(".preview :is(script, iframe, style, img, [onerror], [onload], [srcdoc], .text a)") === null`)
		if browser.Get(l.Visitor, chromedp.Evaluate[bool](`"__hacked" in window`)) {
			t.Errorf("a script in %s ran", c.name)
		}
	}
	l.file("binary.py", "import x\n\x00\x01")
	l.Sees("This is not plain text")
	l.shows("text", ".hex")
}

// Highlighting has enough contrast in both themes, including marked lines.
func TestSourceIsAccessible(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	script := browser.Axe(t)
	file := l.put("gdb.py", goFile(t, "runtime/runtime-gdb.py"))
	l.At("/resources/" + file.ID + "#L10-L40")
	l.Until(`document.querySelector(".lines mark .c-keyword")`)
	l.accessibleInBothThemes(script, "source")
}

// accessibleInBothThemes audits the page in both themes, and in a narrow window.
func (l *viewer) accessibleInBothThemes(script, name string) {
	l.T.Helper()
	l.Theme("light")
	found := l.Audit(script)
	l.Theme("dark")
	for _, f := range append(found, l.Audit(script, "color-contrast")...) {
		l.T.Errorf("%s: %s: %s: %s\n\t%s", name, f.Impact, f.ID, f.Help, f.Where)
	}
	l.Size(360, 740)
	if overflow := browser.Get(l.Visitor, chromedp.Evaluate[float64](`document.documentElement.scrollWidth - innerWidth`)); overflow > 0 {
		l.T.Errorf("%s is %v px too wide for a narrow window", name, overflow)
	}
	l.Size(1280, 800)
	l.Shots(name)
}
