package viewers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// A file of any type runs no script and requests nothing from another origin, which would be a
// complaint.
func TestFileContentIsNotExecuted(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	all := strings.Join(browser.Payloads, "\n")
	quoted := func(text string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) }
	links := "[a](javascript:top.__hacked=1) [b](data:text/html,<script>top.__hacked=1</script>) ![c](http://198.51.100.1/c.png)\n\n" +
		"[d](vbscript:x) [e]( java&#x73;cript:top.__hacked=1 ) <javascript:top.__hacked=1>\n\n[f]: javascript:top.__hacked=1\n[f] [g](//198.51.100.1) [fine](https://example.org/?a=1&amp;b=2)\n\n"
	notebook := fmt.Sprintf(`{"nbformat": 4, "metadata": {"kernelspec": {"display_name": "%[1]s"}}, "cells": [
		{"cell_type": "markdown", "source": "%[2]s%[1]s"},
		{"cell_type": "raw", "source": ["%[1]s"]},
		{"cell_type": "code", "execution_count": "%[1]s", "source": "%[1]s", "outputs": [
			{"output_type": "stream", "name": "%[1]s", "text": "%[1]s"},
			{"output_type": "display_data", "data": {"text/html": "%[1]s", "image/svg+xml": "%[1]s", "application/javascript": "top.__hacked = 1"}},
			{"output_type": "display_data", "data": {"image/png": "%[1]s"}},
			{"output_type": "display_data", "data": {"image/png": "PHN2ZyBvbmxvYWQ9InRvcC5fX2hhY2tlZD0xIi8+"}},
			{"output_type": "error", "ename": "%[1]s", "evalue": "%[1]s", "traceback": ["%[1]s"]}]}]}`, quoted(all), quoted(links))
	for _, c := range []struct{ name, content, kind string }{
		{"a.html", "<!doctype html><title>x</title>" + all, "text"},
		{"b.svg", `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="top.__hacked=1"><script>top.__hacked=1</script></svg>`, "image"},
		{"c.xhtml", `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>top.__hacked=1</script></html>`, "text"},
		{"d.xml", `<?xml version="1.0"?><?xml-stylesheet href="http://198.51.100.1/x.xsl" type="text/xsl"?><a>` + all + `</a>`, "text"},
		{"e.txt", all, "text"},
		{"f.md", "# " + browser.Payloads[0] + "\n\n" + links + all + "\n\n| a | b |\n|---|---|\n| " + browser.Payloads[1] + " | `" + browser.Payloads[0] + "` |\n", "markdown"},
		{"g.csv", "name,value\n" + strings.Join(browser.Payloads[:2], ",1\n") + ",2\n\"" + strings.ReplaceAll(all, `"`, `""`) + "\",3\n", "table"},
		{"h.json", fmt.Sprintf(`{"%[1]s": "%[1]s", "__proto__": {"a": ["%[1]s"]}, "constructor": "%[1]s"}`, quoted(all)), "json"},
		{"i.ipynb", notebook, "notebook"},
		{"j.js", "top.__hacked = 1", "text"},
		{"k.raw", "\x00\x01" + all, "bytes"},
		{"l.png", "\x89PNG\r\n\x1a\n" + all, "image"},
		{browser.Payloads[1] + ".txt", all, "text"},
	} {
		t.Log(c.name)
		l.file(c.name, c.content)
		l.shows(c.kind, "*")
		l.Until(`document.querySelector('[data-preview] .waiting') === null`)
		l.Until(`[...document.querySelectorAll(".preview a:not(.numbers a)")].every((a) => /^(https?:|mailto:)/.test(a.href) && a.rel === "noopener noreferrer")`)
		l.Until(`document.querySelector(".preview :is(script, iframe, style, [onerror], [onload], [srcdoc])") === null`)
		if browser.Get(l.Visitor, chromedp.Evaluate[bool](`"__hacked" in window`)) {
			t.Errorf("a script in %s ran", c.name)
		}
		l.Shots("hostile-" + c.kind + c.name[:1])
	}
	l.file("again.md", links)
	l.Until(`document.querySelectorAll(".preview a").length === 2 && document.querySelector(".preview a[href='https://example.org/?a=1&b=2']")`)
}
