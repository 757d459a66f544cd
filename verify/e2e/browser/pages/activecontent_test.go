package pages

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// No page loads a stored script or style sheet as its own code, although the policy of the pages
// trusts the origin.
func TestStoredScriptsAreNotLoaded(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	const code = "globalThis.__hacked = 1"
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	stored := func(name, kind string) string {
		return browser.Get(v, chromedp.Evaluate[string](fmt.Sprintf(`(async () => {
			const form = new FormData();
			form.append("setId", %q);
			form.append("file", new File([%q], %q, { type: %q }));
			return (await (await fetch("/v1/resources", { method: "POST", body: form })).json()).id;
		})()`, sid, code, name, kind), chromedp.EvalAwaitPromise))
	}
	script, style := stored("evil.js", "text/javascript"), stored("evil.css", "text/css")
	v.Expect("status of 403", "Refused to", "MIME type")
	loads := func(element, path string) string {
		return browser.Get(v, chromedp.Evaluate[string](fmt.Sprintf(`new Promise((done) => {
			const e = Object.assign(document.createElement(%q), { src: %q, href: %[2]q, rel: "stylesheet", type: %q });
			e.onload = () => done("loaded");
			e.onerror = () => done("refused");
			document.head.append(e);
		})`, element, path, map[string]string{"script": "module", "link": "text/css"}[element]), chromedp.EvalAwaitPromise))
	}
	for element, id := range map[string]string{"script": script, "link": style} {
		if got := loads(element, "/v1/resources/"+id+"/data"); got != "refused" {
			t.Errorf("%s: %s", element, got)
		}
	}
	worker := fmt.Sprintf(`new Promise((done) => { const w = new Worker("/v1/resources/%s/data"); w.onerror = (e) => { e.preventDefault(); done("refused"); }; })`, script)
	if got := browser.Get(v, chromedp.Evaluate[string](worker, chromedp.EvalAwaitPromise)); got != "refused" {
		t.Error("the worker was not refused:", got)
	}
	if asset := browser.Get(v, chromedp.Evaluate[string](`new URL(document.querySelector("link[rel=stylesheet]").href).pathname`)); loads("link", asset+"?again") != "loaded" {
		t.Error("an asset of the pages is refused")
	}
	v.Until(`window.__hacked === undefined`)
	v.Follow("evil.js")
	v.Sees(code)
}
