package browser

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
)

// payloads would set window.__hacked, or fetch something from elsewhere, wherever they were taken for more than text.
var payloads = []string{
	`<script>top.__hacked = 1; window.__hacked = 1</script>`,
	`<img src="x" onerror="top.__hacked = 1"><img src="http://198.51.100.1/track.png">`,
	`<svg xmlns="http://www.w3.org/2000/svg" onload="top.__hacked = 1"><script>top.__hacked = 1</script></svg>`,
	`"><iframe srcdoc="<script>top.__hacked = 1</script>"></iframe>`,
	`<a href="javascript:top.__hacked=1">javascript:top.__hacked=1</a>`,
	`<details open ontoggle="top.__hacked=1"><style>body { background: url(http://198.51.100.1/) }</style></details>`,
}

// Whatever stands in a file, of whatever kind: nothing of it runs, and nothing is fetched from elsewhere (which the visitor watches).
func TestNothingInAFileRuns(t *testing.T) {
	t.Parallel()
	l := look(t)
	all := strings.Join(payloads, "\n")
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
		{"b.svg", `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="top.__hacked=1"><script>top.__hacked=1</script></svg>`, "text"},
		{"c.xhtml", `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>top.__hacked=1</script></html>`, "text"},
		{"d.xml", `<?xml version="1.0"?><?xml-stylesheet href="http://198.51.100.1/x.xsl" type="text/xsl"?><a>` + all + `</a>`, "text"},
		{"e.txt", all, "text"},
		{"f.md", "# " + payloads[0] + "\n\n" + links + all + "\n\n| a | b |\n|---|---|\n| " + payloads[1] + " | `" + payloads[0] + "` |\n", "markdown"},
		{"g.csv", "name,value\n" + strings.Join(payloads[:2], ",1\n") + ",2\n\"" + strings.ReplaceAll(all, `"`, `""`) + "\",3\n", "table"},
		{"h.json", fmt.Sprintf(`{"%[1]s": "%[1]s", "__proto__": {"a": ["%[1]s"]}, "constructor": "%[1]s"}`, quoted(all)), "json"},
		{"i.ipynb", notebook, "notebook"},
		{"j.js", "top.__hacked = 1", "text"},
		{"k.raw", "\x00\x01" + all, "bytes"},
		{"l.png", "\x89PNG\r\n\x1a\n" + all, "image"},
		{payloads[1] + ".txt", all, "text"},
	} {
		t.Log(c.name)
		l.file(c.name, c.content)
		l.shows(c.kind, "*")
		l.until(`document.querySelector('[data-preview] .waiting') === null`)
		l.until(`[...document.querySelectorAll(".preview a")].every((a) => /^(https?:|mailto:)/.test(a.href) && a.rel === "noopener noreferrer")`)
		l.until(`document.querySelector(".preview :is(script, iframe, style, [onerror], [onload], [srcdoc])") === null`)
		if get(l.visitor, chromedp.Evaluate[bool](`"__hacked" in window`)) {
			t.Errorf("something in %s ran", c.name)
		}
		l.shots("hostile-" + c.kind + c.name[:1])
	}
	l.file("again.md", links)
	l.until(`document.querySelectorAll(".preview a").length === 2 && document.querySelector(".preview a[href='https://example.org/?a=1&b=2']")`)
}

// What is damaged, deleted or replaced meanwhile says so, and can be tried again.
func TestPreviewOfWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	l := look(t)
	l.expect("status of 500", "status of 410", "status of 412", "net::ERR_")
	long := strings.Repeat("a line of some length\n", 40000)
	for _, c := range []struct{ name, content string }{
		{"a.txt", long}, {"a.csv", large(300 << 10)}, {"a.md", long[:300<<10]}, {"a.json", "[" + strings.Repeat("1,", 200_000) + "1]"},
		{"a.png", sample(t, "cells-40x.png")}, {"a.pdf", "%PDF-1.4\n" + long}, {"a.wav", "RIFF\xff\xff\xff\x7fWAVEfmt " + long}, {"a.raw", "\x00" + long},
	} {
		t.Log(c.name)
		r := l.put(c.name, c.content)
		lose(t, l.site.data, r)
		l.at("/resources/" + r.ID)
		l.sees("Try again", "a backup brings them back")
	}
	l.shots("damaged")

	r := l.file("b.txt", long)
	l.sees("Show more")
	if err := l.site.Call(t.Context(), http.MethodDelete, "/resources/"+r.ID, nil, nil); err != nil {
		t.Fatal(err)
	}
	l.press("Show more")
	l.sees("the resource is deleted")
	if err := l.site.Call(t.Context(), http.MethodPost, "/resources/"+r.ID+"/restore", nil, nil); err != nil {
		t.Fatal(err)
	}
	l.press("Try again")
	l.seesNot("the resource is deleted")

	r = l.file("c.txt", long)
	l.sees("Show more")
	if _, err := l.site.Upload(t.Context(), http.MethodPut, "/resources/"+r.ID,
		e2e.File{Filename: "c.txt", Body: bytes.NewReader(make([]byte, len(long))), Size: int64(len(long))}); err != nil {
		t.Fatal(err)
	}
	l.press("Show more")
	l.sees("has been replaced")
	l.sees("a line of some length")

	l.file("empty.csv", "")
	l.sees("This file is empty")
}

// lose takes the bytes of a file off the disk of the service.
func lose(t *testing.T, data string, r e2e.Resource) {
	t.Helper()
	lost := false
	err := filepath.WalkDir(filepath.Join(data, "blobs"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == r.SHA256 {
			lost = true
			return os.Remove(path)
		}
		return err
	})
	if err != nil || !lost {
		t.Fatalf("the file of %s is not there to be lost: %v", r.Name, err)
	}
}
