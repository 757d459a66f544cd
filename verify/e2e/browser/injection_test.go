package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
)

// hostile are texts that would run a script or fetch something if a page interpreted them.
var hostile = []string{
	`<script>window.__hacked=1</script>`, `"><img src=x onerror="window.__hacked=2">`, `javascript:window.__hacked=3`,
	`<svg onload="window.__hacked=4">`, `</title><iframe srcdoc="<script>parent.__hacked=5</script>">`, `<img src="http://elsewhere.example/x.png">`,
	`{{constructor.constructor('window.__hacked=6')()}}`, `<a href="http://elsewhere.example/" autofocus onfocus="window.__hacked=7">x</a>`,
}

// Names, titles and descriptions are shown as text in every view.
func TestMetadataIsNotExecuted(t *testing.T) {
	t.Parallel()
	s := open(t)
	all := strings.Join(hostile, " ")
	did := s.create(t, "/dataspaces", map[string]string{"name": "hostile", "title": hostile[0], "description": all, "origin": all})
	sid := s.create(t, "/sets", map[string]string{"name": "hostile", "title": hostile[1], "description": all, "dataspaceId": did})
	ids := s.put(t, sid, hostile...)
	for _, id := range ids {
		s.call(t, "PATCH", "/resources/"+id, map[string]string{"description": all, "format": hostile[3]})
	}
	s.call(t, "DELETE", "/resources/"+ids[0], nil)
	eve := s.person(t, "eve", "editor", did)
	s.call(t, "PUT", "/users/"+eve.id, map[string]string{"fullname": hostile[1], "about": all})
	s.call(t, "POST", "/users/me/keys", map[string]string{"label": hostile[1]})
	page, err := s.Upload(t.Context(), "POST", "/resources", e2e.File{SetID: sid, Name: "page.html", Filename: "page.html",
		Body: strings.NewReader("<!doctype html>" + all), Size: int64(len("<!doctype html>" + all))})
	if err != nil {
		t.Fatal(err)
	}
	v := s.signedIn(t, s.Key(), "/")
	paths := []string{"/", "/dataspaces/" + did, "/dataspaces/" + did + "?view=files", "/dataspaces/" + did + "/members", "/sets/" + sid + "?state=all",
		"/trash", "/users", "/account", "/usage", "/resources/" + page.ID, "/resources/" + ids[0], "/resources/" + ids[1]}
	for _, path := range paths {
		v.at(path)
		v.loaded()
		v.until(`window.__hacked === undefined && !document.querySelector("main script, main iframe:not([sandbox]), main [onerror], main [onload], main [onfocus]")`)
	}
}

// payloads set window.__hacked or fetch something from another origin if a preview interprets them.
var payloads = []string{
	`<script>top.__hacked = 1; window.__hacked = 1</script>`,
	`<img src="x" onerror="top.__hacked = 1"><img src="http://198.51.100.1/track.png">`,
	`<svg xmlns="http://www.w3.org/2000/svg" onload="top.__hacked = 1"><script>top.__hacked = 1</script></svg>`,
	`"><iframe srcdoc="<script>top.__hacked = 1</script>"></iframe>`,
	`<a href="javascript:top.__hacked=1">javascript:top.__hacked=1</a>`,
	`<details open ontoggle="top.__hacked=1"><style>body { background: url(http://198.51.100.1/) }</style></details>`,
}

// Nothing in a file of any type runs or fetches something from another origin, which would be a
// complaint.
func TestFileContentIsNotExecuted(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
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
		{"b.svg", `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="top.__hacked=1"><script>top.__hacked=1</script></svg>`, "image"},
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
		l.until(`[...document.querySelectorAll(".preview a:not(.numbers a)")].every((a) => /^(https?:|mailto:)/.test(a.href) && a.rel === "noopener noreferrer")`)
		l.until(`document.querySelector(".preview :is(script, iframe, style, [onerror], [onload], [srcdoc])") === null`)
		if get(l.visitor, chromedp.Evaluate[bool](`"__hacked" in window`)) {
			t.Errorf("something in %s ran", c.name)
		}
		l.shots("hostile-" + c.kind + c.name[:1])
	}
	l.file("again.md", links)
	l.until(`document.querySelectorAll(".preview a").length === 2 && document.querySelector(".preview a[href='https://example.org/?a=1&b=2']")`)
}
