package viewers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
	"labshelf/verify/e2e/browser"
)

// documentFile returns a document by another project.
func documentFile(t *testing.T, name string) string {
	t.Helper()
	return browser.TestFile(t, "documents", name)
}

// named uploads a file under a name in the set, which may contain folders.
func (l *viewer) named(name, content string) e2e.Resource {
	l.T.Helper()
	r, err := l.site.Upload(l.T.Context(), "POST", "/resources",
		e2e.File{SetID: l.set, Name: name, Filename: name[strings.LastIndex(name, "/")+1:], Body: strings.NewReader(content), Size: int64(len(content))})
	if err != nil {
		l.T.Fatal(err)
	}
	return r
}

// Documents of other projects show as many formulas as markdown-it finds in them, and the same
// tables as pandas reads. Formulas that the library does not support show their source.
func TestForeignDocuments(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	var known map[string]struct {
		Formulas int
		Tables   [][][]string
	}
	if err := json.Unmarshal([]byte(documentFile(t, "expected.json")), &known); err != nil {
		t.Fatal(err)
	}
	for name, want := range known {
		t.Log(name)
		l.file(name, documentFile(t, name))
		l.Until(`document.querySelector("[data-preview] .markdown, [data-preview] .cell")`)
		l.WaitFor(func() error {
			type seen struct {
				Drawn, Failed, All int
				Why                string
			}
			got := browser.Get(l.Visitor, chromedp.Evaluate[seen](`({ Drawn: document.querySelectorAll(".preview math").length,
				Failed: document.querySelectorAll(".preview .formula-source.failed").length, All: document.querySelectorAll(".preview :is(math, .formula-source)").length,
				Why: document.querySelector(".preview .formula-source.failed")?.title ?? "" })`))
			if got.All != want.Formulas || got.Drawn+got.Failed != got.All {
				return fmt.Errorf("%s has %+v; want %d formulas", name, got, want.Formulas)
			}
			if got.Failed > 0 && name != "amsmath.md" { // it has environments without an end, and environments in quotes
				return fmt.Errorf("%s has %+v", name, got)
			}
			return nil
		})
		tables := browser.Get(l.Visitor, chromedp.Evaluate[[][][]string](`[...document.querySelectorAll(".output .inert table")].map((t) => [...t.rows].map((r) => [...r.cells].map((c) => c.textContent)))`))
		if !slices.EqualFunc(tables, want.Tables, sameTable) {
			t.Errorf("%s has the tables %q; want %q", name, tables, want.Tables)
		}
		if strings.HasPrefix(name, "attachment") {
			l.Until(`document.querySelectorAll(".cell img").length === 2 && [...document.querySelectorAll(".cell img")].every((i) => i.naturalWidth >= 64)`)
		}
		l.Shots("document-" + name)
	}
}

func sameTable(shown, want [][]string) bool {
	return slices.EqualFunc(shown, want, func(a, b []string) bool { return slices.EqualFunc(a, b, sameCell) })
}

// Images and links in a document refer to files of its set by relative names. Code is highlighted,
// and headings have addresses.
func TestDocumentsReferToTheirSet(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.named("run/figures/a b.png", sample(t, "cells-40x.png"))
	l.named("logo.png", sample(t, "cells-40x.png"))
	code := l.named("code/fit.py", "a = 1\nb = 2\nc = 3\n")
	document := "# Report\n\n![cells](figures/a%20b.png) ![again](./figures/a%20b.png) ![logo](../logo.png) ![none](missing.png) ![svg](x.svg) ![far](http://198.51.100.1/a.png)\n\n" +
		"See [the fit](../code/fit.py#L2), [a folder](figures/), [nothing](nothing.md), [out](../../../x), [below](#more--things) and [elsewhere](https://example.org/).\n\n" +
		"<p align=\"center\"><img src=\"../logo.png\" width=\"900\" alt=\"centred\"><br><a href=\"../code/fit.py\">code</a></p>\n\n" +
		"```{r, echo=FALSE}\nx <- c(1, 2) # numbers\n```\n\n```math\nE = mc^2\n```\n\nCosts $5 and $10, but $x_1$ and \\(y\\).\n\n" + strings.Repeat("Text.\n\n", 60) + "## More & things\n"
	r := l.named("run/README.md", document)
	l.At("/resources/" + r.ID)
	l.Until(`document.querySelectorAll(".markdown img").length === 4 && [...document.querySelectorAll(".markdown img")].every((i) => i.complete && i.naturalWidth > 0)`)
	l.Until(`document.querySelectorAll(".markdown math").length === 3 && document.querySelector(".markdown pre .c-comment").textContent === "# numbers"`)
	l.Sees("[image: none]", "[image: far]", "Costs $5 and $10, but")
	l.Until(`[...document.querySelectorAll(".markdown a")].find((a) => a.textContent === "out") === undefined`)
	l.Shots("document-report")
	if _, requests := l.fetched(); len(requests) != 3 { // the document, and each image once
		t.Errorf("the requests are %q, want 3", requests)
	}
	l.Follow("below")
	l.Until(`location.hash === "#more--things" && document.getElementById("content-more--things").getBoundingClientRect().top < innerHeight`)
	l.Follow("the fit")
	l.Until(fmt.Sprintf(`location.pathname === "/resources/%s" && document.querySelector(".lines mark")?.textContent === "b = 2\n"`, code.ID))
	l.At("/resources/" + r.ID)
	l.Follow("nothing")
	l.Sees("No file named run/nothing.md in this set")
	l.At("/resources/" + r.ID)
	l.Follow("a folder")
	l.Until(`location.pathname.startsWith("/sets/") && new URLSearchParams(location.search).get("folder") === "run/figures/"`)
	// A YAML block at the start of a document is not a heading. Symbols that cannot be drawn stay
	// visible as source.
	l.file("signs.md", "$\\phase{-78}$ $\\cancelto{0}{x}$ $\\textcircled{a}$ $\\longdiv{12}$ $\\cancel{y}$\n")
	l.Until(`document.querySelectorAll(".formula-source.failed").length === 4 && document.querySelector("math .tml-cancel.upstrike")`)
	l.file("paper.Rmd", "---\ntitle: A paper # draft\n---\n\n# Methods\n\n$x$\n")
	l.Until(`document.querySelector(".markdown pre .c-comment")?.textContent === "# draft" && document.querySelectorAll(".markdown :is(h2, h3, hr)").length === 1`)
}

// Broken and hostile documents show their text. They run no code, send no request to another
// origin, and do not block the page.
func TestHostileDocuments(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.shortTimeout()
	all := strings.Join(append(slices.Clone(browser.Hostile), browser.Payloads...), "\n")
	quoted := func(text string) string { b, _ := json.Marshal(text); return string(b) }
	table := "<table onclick='top.__hacked=1'><tr><th colspan=99999999 rowspan=99999999>head</th></tr><tr><td style='background:url(http://198.51.100.1/)'>cell <script>top.__hacked=1</script>" +
		"<img src=x onerror='top.__hacked=1'><a href='javascript:top.__hacked=1'>link</a><svg onload='top.__hacked=1'></svg></td><td>" + all + "</td></tr></table>"
	notebook := func(cell string) string {
		return `{"nbformat": 4, "metadata": {"language_info": {"name": "python"}}, "cells": [` + cell + `]}`
	}
	output := func(kind, text string) string {
		return notebook(fmt.Sprintf(`{"cell_type": "code", "source": "1", "outputs": [{"output_type": "display_data", "data": {%q: %s, "text/plain": "plain"}}]}`, kind, quoted(text)))
	}
	for _, c := range []struct{ name, content, says, has string }{
		{"math.md", `$\href{javascript:top.__hacked=1}{x}$ $\url{javascript:x}$ $\includegraphics{http://198.51.100.1/a.png}$ $\style{background:url(http://198.51.100.1/)}{x}$ $\class{a}{x}$ $\data{a=b}{x}$` +
			"\n\n$$\\text{<img src=x onerror=top.__hacked=1>}$$\n", `\includegraphics`, `.formula-source.failed`},
		{"loop.md", `$\def\a{\a\a}\a$ $` + strings.Repeat("{", 2000) + strings.Repeat("}", 2000) + `$ $\def\b{` + strings.Repeat("x", 2000) + `}` + strings.Repeat(`\b`, 400) + "$ $x$", "{{{{", `math`},
		{"wide.md", `$$\rule{100000000em}{1em} \kern{100000em} \hspace{-5000em} x$$ $` + strings.Repeat(`\frac{1}{1+`, 60) + "1" + strings.Repeat("}", 60) + "$", "", `math`},
		{"open.md", strings.Repeat("$a ", 20_000) + strings.Repeat("\\( ", 20_000) + strings.Repeat("\n\n$$ ", 5_000), "$a $a", `.markdown`},
		{"slow.md", "```toml\n" + strings.Repeat(strings.Repeat("a", 9_000)+"\n", 10) + "```\n\n```python\nimport x\n```\n", "import x", `pre`},
		{"html.md", "text\n\n<div>" + strings.Repeat("<b>", 5000) + "deep</div>\n\n" + table + "\n\n" + all, "head", `.inert table`},
		{"names.md", "[a](../../../../v1/users) ![b](figures\\..\\x.png) [c](//198.51.100.1/x) ![d](data:image/svg+xml,<svg/onload=top.__hacked=1>) [e](\tjavascript:top.__hacked=1)", "", `.markdown`},
		{"table.ipynb", output("text/html", table), "head", `.output table`},
		{"many.ipynb", output("text/html", "<table>"+strings.Repeat("<tr>"+strings.Repeat("<td colspan=1000>1", 20), 3000)+"</table>"), "Output of 3,000 lines", `.folded`},
		{"spans.ipynb", output("text/html", "<table>"+strings.Repeat("<tr>"+strings.Repeat("<td colspan=1000 rowspan=10000>1", 900), 30)+"</table>"), "1", `.output table td`},
		{"style.ipynb", output("text/html", "<style>body { display: none }</style><table><tr><td>kept</table>"), "kept", `.output table`},
		{"script.ipynb", output("text/html", "<script>top.__hacked = 1</script>"), "plain", `.output`},
		{"attached.ipynb", notebook(`{"cell_type": "markdown", "source": "![x](attachment:a.png) ![y](attachment:__proto__) ![z](attachment:b.svg)", "attachments": {"a.png": {"image/png": ` + quoted(all) +
			`}, "b.svg": {"image/svg+xml": ` + quoted(all) + `}}}`), "cannot be shown", `.cell`},
		{"again.ipynb", documentFile(t, "notebook_inject.ipynb"), "", `.cell`},
	} {
		t.Log(c.name)
		l.file(c.name, c.content)
		l.Until(fmt.Sprintf(`document.querySelector("[data-preview] %s")`, c.has))
		l.Sees(c.says, "For programs")
		l.Until(`![...document.querySelectorAll(".formula-source")].some((e) => !e.classList.contains("failed"))`)
		l.Until(`document.querySelector(".preview :is(script, iframe, style, svg, [onerror], [onload], [onclick], [srcdoc], [href^='javascript:' i])") === null`)
		l.Until(`[...document.querySelectorAll(".preview [style]")].every((e) => !e.getAttribute("style").includes("url"))`)
		if browser.Get(l.Visitor, chromedp.Evaluate[bool](`"__hacked" in window`)) {
			t.Errorf("a script in %s ran", c.name)
		}
		if overflow := browser.Get(l.Visitor, chromedp.Evaluate[float64](`document.documentElement.scrollWidth - innerWidth`)); overflow > 0 {
			t.Errorf("%s makes the page %v px too wide", c.name, overflow)
		}
		l.Shots("hostile-" + c.name)
	}
}

// For any answer of a decoder, the page creates only listed elements, attributes and styles, and
// shows the complete text.
func TestDecoderAnswersAreNotTrusted(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.BeforeScripts(`{
		const of = (name, children, text = "x") => ({ name, children: [text, ...children], classes: ["dialog", "tml-right"],
			attributes: { onclick: "top.__hacked = 1", href: "javascript:top.__hacked = 1", src: "http://198.51.100.1/", id: "main", width: "url(http://198.51.100.1/)" },
			style: { background: "url(http://198.51.100.1/)", color: "red; background: url(http://198.51.100.1/)", position: "fixed", width: "3em" } });
		const deep = { name: "mrow", attributes: {}, classes: [], style: {}, children: [] };
		for (let i = 0, at = deep; i < 5000; i++) at.children.push(at = { ...deep, children: [] });
		const answers = { formula: of("math", [of("script", []), of("a", [of("mi", [])]), of("img", []), deep]), highlight: Uint32Array.of(5, 99, 2, 1, 8, 3, 4e9, 2) };
		window.Worker = class { postMessage(m) { setTimeout(() => this.onmessage({ data: { kind: "answer", call: m.call, answer: answers[m.method] } })) } terminate() {} };
	}`)
	l.file("a.md", "A $formula$.\n\n```python\nimport numpy\nx = 1\n```\n")
	l.Until(`document.querySelector(".markdown math mi.tml-right") && document.querySelector(".markdown pre span.c-string")`)
	if text := browser.Get(l.Visitor, chromedp.Evaluate[string](`document.querySelector(".markdown pre").textContent`)); text != "import numpy\nx = 1" {
		t.Errorf("the code is shown as %q", text)
	}
	for _, bad := range []string{"script", "a", "img", "[onclick]", "[href]", "[src]", "[id]", ".dialog", `[width]`, `[style*="url"]`, `[style*="color"]`, `[style*="position"]`} {
		if browser.Get(l.Visitor, chromedp.Evaluate[bool](fmt.Sprintf(`document.querySelector(".markdown " + %q) !== null`, bad))) {
			t.Errorf("the page contains %s", bad)
		}
	}
	l.Until(`document.querySelector('.markdown mi[style="width: 3em;"]')`)
}

// Documents are accessible in both themes.
func TestDocumentsAreAccessible(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	script := browser.Axe(t)
	for name, ready := range map[string]string{"mode.md": "math", "complex_outputs.ipynb": ".output table"} {
		l.file(name, documentFile(t, name))
		l.Until(fmt.Sprintf(`document.querySelector(".preview %s")`, ready))
		l.Until(`![...document.querySelectorAll(".formula-source")].some((e) => !e.classList.contains("failed"))`)
		l.accessibleInBothThemes(script, "axe-"+name)
	}
}

// Readers of open data without an account see the pictures of a document, and can follow its links.
func TestDocumentsWithoutAnAccount(t *testing.T) {
	t.Parallel()
	s := browser.Open(t, "--anonymous", "on")
	_, set, _ := s.OpenSet(t)
	l := &viewer{Visitor: s.Visit(t), site: s, set: set}
	l.named("figures/cells.png", sample(t, "cells-40x.png"))
	l.named("fit.py", "a = 1\nb = 2\n")
	r := l.named("README.md", "![cells](figures/cells.png) [the fit](fit.py#L2) $x$\n")
	l.At("/resources/" + r.ID)
	l.Until(`document.querySelector(".markdown img")?.naturalWidth > 0 && document.querySelector(".markdown math")`)
	l.Follow("the fit")
	l.Until(`document.querySelector(".lines mark")?.textContent === "b = 2\n"`)
}
