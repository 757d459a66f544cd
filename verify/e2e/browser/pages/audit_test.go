package pages

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// entries waits until the list begins with these entries, newest first, without their times.
func entries(v *browser.Visitor, texts ...string) {
	v.T.Helper()
	v.Until(fmt.Sprintf(`[...document.querySelectorAll(".entries > li > p:first-child")].slice(0, %d).map((p) => p.innerText.replace(/\s+/g, " ").trim()).join("|") === %q`,
		len(texts), strings.Join(texts, "|")))
}

// The history of a file describes each change in words, and links to the versions. It does not
// contain the addresses of requests.
func TestHistoryOfFile(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	rid := history(t, s, sid, "one", "the second")
	s.Do(t, http.MethodPatch, "/resources/"+rid, map[string]string{"name": "b.txt"})
	s.Do(t, http.MethodPatch, "/resources/"+rid, map[string]string{"description": "<b>bold</b>"})
	s.Do(t, http.MethodPost, "/resources/"+rid+"/versions/1/restore", nil)
	s.Do(t, http.MethodDelete, "/sets/"+sid, nil)
	s.Do(t, http.MethodPost, "/sets/"+sid+"/restore", nil)
	v := s.SignedIn(t, s.Person(t, "jon", "member", did).Key, "/resources/"+rid)
	menu(v, "History")
	v.IsAt("/resources/" + rid + "/history")
	entries(v,
		"admin restored the file with the set Runs of 2026 just now", "admin deleted the file with the set Runs of 2026 just now",
		"admin restored version 1 of the file: it is now version 3, 3 B just now", "admin changed the details of the file just now",
		"admin renamed the file from a.txt to b.txt just now", "admin replaced the file: version 2, 10 B just now", "admin uploaded the file: version 1, 3 B just now")
	v.Sees("<b>bold</b>", "7 entries")
	v.SeesNot("127.0.0.1")
	v.SeesNot("Erase texts")
	v.Shots("history")
	v.Follow("version 2")
	v.IsAt("/resources/" + rid + "/versions/2")
	v.Sees("the second")
}

// The history of a dataspace contains its roles, with the names of the users.
func TestHistoryOfDataspace(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, _ := s.NewSet(t)
	mara := s.Person(t, "mara", "admin", did)
	s.Do(t, http.MethodPut, "/dataspaces/"+did, map[string]string{"retention": "last 5"})
	v := s.SignedIn(t, mara.Key, "/dataspaces/"+did)
	menu(v, "History")
	entries(v, "admin changed the dataspace just now", "admin gave mara the role admin in the dataspace just now")
	v.Sees("Versions kept", "everything → last 5")
	// An admin who is not a sysadmin sees only entries about the dataspaces they administer.
	s.Create(t, "/dataspaces", map[string]string{"name": "other"})
	v.Follow("Audit log")
	v.IsAt("/audit")
	v.Sees("Changes to the dataspaces that you are an admin of", "gave mara the role admin", "from 127.0.0.1")
	v.SeesNot("other")
	v.SeesNot("Export")
	v.SeesNot("Erase texts")
}

// A long history is shown page by page.
func TestLongHistory(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	contents := make([]string, 120)
	for i := range contents {
		contents[i] = fmt.Sprint("version ", i+1)
	}
	rid := history(t, s, sid, contents...)
	v := s.SignedIn(t, s.Key(), "/resources/"+rid+"/history")
	v.Sees("100 entries so far")
	v.SeesNot("uploaded the file")
	v.Press("Show more")
	v.Sees("120 entries", "uploaded the file")
	v.SeesNot("so far")
	v.SeesNot("Show more")
}

// A sysadmin can filter the log, see the signed head, download the export, and erase the texts of
// an entry.
func TestAuditLog(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	rid := history(t, s, sid, "one", "two")
	s.Do(t, http.MethodPatch, "/resources/"+rid, map[string]string{"description": "participant 17"})
	mara := s.Person(t, "mara", "editor", did)
	v := s.SignedIn(t, s.Key(), "/")
	v.Follow("Audit log")
	v.IsAt("/audit")
	entries(v, "admin signed in with a browser just now", "admin gave mara the role editor in the dataspace Laser lab just now",
		"admin created a key of mara just now")
	v.Sees("participant 17", "from 127.0.0.1")
	v.Shots("audit")
	v.Choose("Show", "resource.*")
	entries(v, "admin changed the details of the file a.txt just now", "admin replaced the file a.txt: version 2, 3 B just now", "admin uploaded the file a.txt: version 1, 3 B just now")
	v.Sees("3 entries")
	v.Choose("By", mara.ID)
	v.Sees("No entries", "Nothing matches the filters")
	v.At("/audit?object=" + sid)
	entries(v, "admin created the set Runs of 2026 just now")
	v.Sees("1 entry")
	v.At("/audit?since=2100-01-01")
	v.Sees("Nothing matches the filters")

	v.At("/audit?action=resource.*")
	v.Sees("participant 17")
	number := browser.Get(v, chromedp.Evaluate[string](`document.querySelector(".origin span").textContent.replace("entry ", "")`))
	v.Press("Erase texts of entry " + number)
	v.Sees("Erase the texts of entry "+number+"?", "another entry records who erased them")
	v.Shots("audit-erase")
	v.Submit()
	v.Sees("texts erased")
	v.SeesNot("participant 17")
	v.At("/audit?action=audit.*")
	entries(v, "admin erased the texts of entry "+number+" just now")

	v.Press("Signed head")
	v.Sees("Keep this head where the operator of this service cannot change it")
	v.Shots("audit-head")
	var head struct{ Head, Key string }
	if err := s.Call(t.Context(), http.MethodGet, "/audit/head", nil, &head); err != nil {
		t.Fatal(err)
	}
	shown := browser.Get(v, chromedp.Evaluate[string](`[...document.querySelectorAll("dialog pre")].map((p) => p.textContent).join("|")`))
	if shown != head.Head+"|"+head.Key {
		t.Errorf("the dialog shows %q", shown)
	}
	v.Press("Close")
	export := browser.Get(v, chromedp.Evaluate[string](`fetch([...document.querySelectorAll("main a")].find((a) => a.innerText.includes("Export")).href).then((r) => r.text())`, chromedp.EvalAwaitPromise))
	if first, _, _ := strings.Cut(export, "\n"); !strings.Contains(first, head.Key) || strings.Contains(export, "participant 17") {
		t.Errorf("the export begins with %.200q", export)
	}
}
