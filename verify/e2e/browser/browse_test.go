package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
)

// lists waits until the list shows these names, in this order, and no others.
func (v *visitor) lists(names ...string) {
	v.t.Helper()
	v.until(fmt.Sprintf(`document.querySelector(".list[aria-busy=false]") &&
		[...document.querySelectorAll(".list .body .row a")].map((a) => a.innerText.trim()).join("|") === %q`, strings.Join(names, "|")))
}

// choose takes an option of a selection.
func (v *visitor) choose(label, value string) {
	v.t.Helper()
	v.do(chromedp.SetValue(chromedp.Search(`//label[starts-with(normalize-space(), "`+label+`")]/select`), value))
	v.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void [...document.querySelectorAll("label")].find((l) => l.innerText.startsWith(%q))
		.querySelector("select").dispatchEvent(new Event("change", {bubbles: true}))`, label)))
}

// The orders and filters of a set are the service's, and stand in the address: whoever opens it sees the same.
func TestOrdersAndFilters(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	ids := s.put(t, sid, "b.txt", "a.txt", "c/1.txt", "c/2.txt", "gone.txt")
	if err := s.Call(t.Context(), "DELETE", "/resources/"+ids[4], nil, nil); err != nil {
		t.Fatal(err)
	}
	v := s.visit(t)
	v.at("/sets/" + sid)
	v.signIn(s.Key())
	v.lists("a.txt", "b.txt", "c/1.txt", "c/2.txt")
	v.choose("Order", "newest")
	v.lists("c/2.txt", "c/1.txt", "a.txt", "b.txt")
	v.isAt("/sets/" + sid + "?order=newest")
	v.choose("Order", "oldest")
	v.lists("b.txt", "a.txt", "c/1.txt", "c/2.txt")
	v.at("/sets/" + sid + "?order=newest&since=2020-01-01&until=2021-01-01")
	v.sees("Nothing matches")
	v.at("/sets/" + sid + "?order=oldest&since=2020-01-01")
	v.lists("b.txt", "a.txt", "c/1.txt", "c/2.txt")
	v.choose("Order", "name")
	v.isAt("/sets/" + sid)
	v.choose("Show", "deleted")
	v.lists("gone.txt")
	v.choose("Show", "all")
	v.lists("a.txt", "b.txt", "c/1.txt", "c/2.txt", "gone.txt")
	v.do(chromedp.SendKeys(chromedp.CSS("input[type=search]"), "c/"))
	v.lists("c/1.txt", "c/2.txt")
	v.isAt("/sets/" + sid + "?state=all&prefix=c%2F")
}

// A member reads, is offered nothing that they may not do, and is refused when they try by hand.
func TestMemberOnlyReads(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.place(t)
	rid := s.put(t, sid, "a.txt")[0]
	jon := s.person(t, "jon", "member", did)
	v := s.visit(t)
	v.at("/")
	v.signIn(jon.key)
	v.sees("Laser lab")
	const offers = `[...document.querySelectorAll("main button, main a.button")].map((b) => b.innerText.trim()).filter(
		(text) => /New|Create|Edit|Delete|Upload|Replace|Give|Remove|Restore/.test(text)).join()`
	for _, path := range []string{"/", "/dataspaces/" + did, "/sets/" + sid, "/resources/" + rid, "/dataspaces/" + did + "/members"} {
		v.at(path)
		v.calm()
		v.until(`document.querySelector(".list .body .row, .facts")`)
		want := ""
		if path == "/" {
			want = "New dataspace" // which is no matter of roles: the service says who may, when it is asked
		}
		if got := get(v, chromedp.Evaluate[string](offers)); got != want {
			t.Errorf("%s offers a member %q, want %q", path, got, want)
		}
	}
	v.expect("status of 403")
	for _, try := range []struct{ method, path, body string }{
		{"PATCH", "/resources/" + rid, `{"description": "x"}`}, {"DELETE", "/resources/" + rid, ""}, {"DELETE", "/sets/" + sid, ""},
		{"PUT", "/dataspaces/" + did, `{"title": "x"}`}, {"POST", "/sets", `{"name": "mine", "dataspaceId": "` + did + `"}`},
		{"POST", "/privileges", `{"userId": "` + jon.id + `", "dataspaceId": "` + did + `", "role": "admin"}`}, {"POST", "/users", `{"username": "eve"}`},
	} {
		status := get(v, chromedp.Evaluate[int](fmt.Sprintf(`fetch("/v1%s", {method: %q, body: %q || undefined, headers: {"Content-Type": "application/json"}})
			.then((answer) => answer.status)`, try.path, try.method, try.body), chromedp.EvalAwaitPromise))
		if status != 403 {
			t.Errorf("%s %s: status %d, want 403", try.method, try.path, status)
		}
	}
}

// hostile are texts that would run, or fetch something, if they ever became more than text.
var hostile = []string{
	`<script>window.__hacked=1</script>`, `"><img src=x onerror="window.__hacked=2">`, `javascript:window.__hacked=3`,
	`<svg onload="window.__hacked=4">`, `</title><iframe srcdoc="<script>parent.__hacked=5</script>">`, `<img src="http://elsewhere.example/x.png">`,
	`{{constructor.constructor('window.__hacked=6')()}}`, `<a href="http://elsewhere.example/" autofocus onfocus="window.__hacked=7">x</a>`,
}

// Whatever stands in a name, a title or a description stays text, in every view.
func TestTextsStayTexts(t *testing.T) {
	t.Parallel()
	s := open(t)
	all := strings.Join(hostile, " ")
	did, err := s.Make(t.Context(), "/dataspaces", map[string]string{"name": "hostile", "title": hostile[0], "description": all, "origin": all})
	if err != nil {
		t.Fatal(err)
	}
	sid, err := s.Make(t.Context(), "/sets", map[string]string{"name": "hostile", "title": hostile[1], "description": all, "dataspaceId": did})
	if err != nil {
		t.Fatal(err)
	}
	ids := s.put(t, sid, hostile...)
	for _, id := range ids {
		if err := s.Call(t.Context(), "PATCH", "/resources/"+id, map[string]string{"description": all, "format": hostile[3]}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Call(t.Context(), "DELETE", "/resources/"+ids[0], nil, nil); err != nil {
		t.Fatal(err)
	}
	eve := s.person(t, "eve", "editor", did)
	if err := s.Call(t.Context(), "PUT", "/users/"+eve.id, map[string]string{"fullname": hostile[1], "about": all}, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Call(t.Context(), "POST", "/users/me/keys", map[string]string{"label": hostile[1]}, nil); err != nil {
		t.Fatal(err)
	}
	page, err := s.Upload(t.Context(), "POST", "/resources", e2e.File{SetID: sid, Name: "page.html", Filename: "page.html",
		Body: strings.NewReader("<!doctype html>" + all), Size: int64(len("<!doctype html>" + all))})
	if err != nil {
		t.Fatal(err)
	}
	v := s.visit(t)
	v.at("/")
	v.signIn(s.Key())
	paths := []string{"/", "/dataspaces/" + did, "/dataspaces/" + did + "?view=files", "/dataspaces/" + did + "/members", "/sets/" + sid + "?state=all",
		"/trash", "/users", "/account", "/usage", "/resources/" + page.ID, "/resources/" + ids[0], "/resources/" + ids[1]}
	for _, path := range paths {
		v.at(path)
		v.calm()
		v.until(`window.__hacked === undefined && !document.querySelector("main script, main iframe:not([sandbox]), main [onerror], main [onload], main [onfocus]")`)
	}
}
