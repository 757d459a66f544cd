package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// entries waits until the list begins with these entries, the newest first, less their times.
func (v *visitor) entries(texts ...string) {
	v.t.Helper()
	v.until(fmt.Sprintf(`[...document.querySelectorAll(".entries > li > p:first-child")].slice(0, %d).map((p) => p.innerText.replace(/\s+/g, " ").trim()).join("|") === %q`,
		len(texts), strings.Join(texts, "|")))
}

// The history of a file tells a reader in words what was done to it, and leads to its versions.
// Where a request came from is not in it.
func TestHistoryOfFile(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	rid := s.history(t, sid, "one", "the second")
	s.call(t, http.MethodPatch, "/resources/"+rid, map[string]string{"name": "b.txt"})
	s.call(t, http.MethodPatch, "/resources/"+rid, map[string]string{"description": "<b>bold</b>"})
	s.call(t, http.MethodPost, "/resources/"+rid+"/versions/1/restore", nil)
	s.call(t, http.MethodDelete, "/sets/"+sid, nil)
	s.call(t, http.MethodPost, "/sets/"+sid+"/restore", nil)
	v := s.signedIn(t, s.person(t, "jon", "member", did).key, "/resources/"+rid)
	v.menu("History")
	v.isAt("/resources/" + rid + "/history")
	v.entries(
		"admin restored the file with the set Runs of 2026 just now", "admin deleted the file with the set Runs of 2026 just now",
		"admin restored version 1 of the file: it is version 3 now, 3 B just now", "admin changed the details of the file just now",
		"admin renamed the file from a.txt to b.txt just now", "admin replaced the file: version 2, 10 B just now", "admin uploaded the file: version 1, 3 B just now")
	v.sees("<b>bold</b>", "7 entries")
	v.seesNot("127.0.0.1")
	v.seesNot("Erase texts")
	v.shots("history")
	v.follow("version 2")
	v.isAt("/resources/" + rid + "/versions/2")
	v.sees("the second")
}

// The history of a dataspace has the roles in it, by the names of the users.
func TestHistoryOfDataspace(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.makeSet(t)
	mara := s.person(t, "mara", "admin", did)
	s.call(t, http.MethodPut, "/dataspaces/"+did, map[string]string{"retention": "last 5"})
	v := s.signedIn(t, mara.key, "/dataspaces/"+did)
	v.menu("History")
	v.entries("admin changed the dataspace just now", "admin gave mara the role admin in the dataspace just now")
	v.sees("Versions kept", "everything → last 5")
	// An admin who is no sysadmin sees in the log what is about the own dataspaces only.
	s.create(t, "/dataspaces", map[string]string{"name": "other"})
	v.follow("Audit log")
	v.isAt("/audit")
	v.sees("Changes to the dataspaces that you are an admin of", "gave mara the role admin", "from 127.0.0.1")
	v.seesNot("other")
	v.seesNot("Export")
	v.seesNot("Erase texts")
}

// A long history is shown page by page.
func TestLongHistory(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	contents := make([]string, 120)
	for i := range contents {
		contents[i] = fmt.Sprint("version ", i+1)
	}
	rid := s.history(t, sid, contents...)
	v := s.signedIn(t, s.Key(), "/resources/"+rid+"/history")
	v.sees("100 entries so far")
	v.seesNot("uploaded the file")
	v.press("Show more")
	v.sees("120 entries", "uploaded the file")
	v.seesNot("so far")
	v.seesNot("Show more")
}

// A sysadmin filters the log, sees the signed head, downloads the export, and erases the texts of
// an entry.
func TestAuditLog(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, sid := s.makeSet(t)
	rid := s.history(t, sid, "one", "two")
	s.call(t, http.MethodPatch, "/resources/"+rid, map[string]string{"description": "participant 17"})
	mara := s.person(t, "mara", "editor", did)
	v := s.signedIn(t, s.Key(), "/")
	v.follow("Audit log")
	v.isAt("/audit")
	v.entries("admin signed in with a browser just now", "admin gave mara the role editor in the dataspace Laser lab just now",
		"admin created a key of mara just now")
	v.sees("participant 17", "from 127.0.0.1")
	v.shots("audit")
	v.choose("Show", "resource.*")
	v.entries("admin changed the details of the file a.txt just now", "admin replaced the file a.txt: version 2, 3 B just now", "admin uploaded the file a.txt: version 1, 3 B just now")
	v.sees("3 entries")
	v.choose("By", mara.id)
	v.sees("No entries", "Nothing matches the filters")
	v.at("/audit?object=" + sid)
	v.entries("admin created the set Runs of 2026 just now")
	v.sees("1 entry")
	v.at("/audit?since=2100-01-01")
	v.sees("Nothing matches the filters")

	v.at("/audit?action=resource.*")
	v.sees("participant 17")
	number := get(v, chromedp.Evaluate[string](`document.querySelector(".origin span").textContent.replace("entry ", "")`))
	v.press("Erase texts of entry " + number)
	v.sees("Erase the texts of entry "+number+"?", "another entry records who erased them")
	v.shots("audit-erase")
	v.submit()
	v.sees("texts erased")
	v.seesNot("participant 17")
	v.at("/audit?action=audit.*")
	v.entries("admin erased the texts of entry " + number + " just now")

	v.press("Signed head")
	v.sees("Keep this head where the operator of this service cannot change it")
	v.shots("audit-head")
	var head struct{ Head, Key string }
	if err := s.Call(t.Context(), http.MethodGet, "/audit/head", nil, &head); err != nil {
		t.Fatal(err)
	}
	shown := get(v, chromedp.Evaluate[string](`[...document.querySelectorAll("dialog pre")].map((p) => p.textContent).join("|")`))
	if shown != head.Head+"|"+head.Key {
		t.Errorf("the dialog shows %q", shown)
	}
	v.press("Close")
	export := get(v, chromedp.Evaluate[string](`fetch([...document.querySelectorAll("main a")].find((a) => a.innerText.includes("Export")).href).then((r) => r.text())`, chromedp.EvalAwaitPromise))
	if first, _, _ := strings.Cut(export, "\n"); !strings.Contains(first, head.Key) || strings.Contains(export, "participant 17") {
		t.Errorf("the export begins with %.200q", export)
	}
}
