package pages

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
	"labshelf/verify/e2e/browser"
)

// history creates a file a.txt with versions of these contents, oldest first, and returns its id.
func history(t *testing.T, s *browser.Site, setID string, contents ...string) string {
	t.Helper()
	r, err := s.Upload(t.Context(), http.MethodPost, "/resources",
		e2e.File{SetID: setID, Name: "a.txt", Filename: "a.txt", Body: strings.NewReader(contents[0]), Size: int64(len(contents[0]))})
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range contents[1:] {
		s.Overwrite(t, r.ID, content)
	}
	return r.ID
}

// content returns the content at a path of the HTTP API.
func content(t *testing.T, s *browser.Site, path string) string {
	t.Helper()
	var content strings.Builder
	if err := s.Download(t.Context(), s.Base()+path, &content); err != nil {
		t.Fatal(err)
	}
	return content.String()
}

// versions waits until the list shows exactly these rows. Each row is the text of its first cell.
func versions(v *browser.Visitor, rows ...string) {
	v.T.Helper()
	v.Until(fmt.Sprintf(`[...document.querySelectorAll(".list.versions .body .row")].map((r) => r.firstChild.innerText.replace(/\s+/g, " ").trim()).join("|") === %q`,
		strings.Join(rows, "|")))
}

// An editor who has replaced the wrong file restores it with one click, and undoes this with
// another click.
func TestReplacedFileIsRestored(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	rid := history(t, s, sid, "second,volt\n0,1.5\n")
	mara := s.Person(t, "mara", "editor", did)
	v := s.SignedIn(t, mara.Key, "/resources/"+rid, "status of 412") // the preview may still read the replaced file
	v.Sees("18 B")
	v.SeesNot("Versions")
	v.Replace(browser.FileWith(t, "wrong.txt", "the wrong file"))
	v.Sees("the wrong file", "wrong.txt")
	versions(v, "Version 2 current", "Version 1")
	v.Sees("just now by admin", "just now by mara")
	v.Follow("2 · all versions")
	v.Shots("versions")

	v.Press("Restore version 1")
	v.Sees("Version 1 is restored as version 3. To undo this, restore version 2.", "volt", "3 versions")
	versions(v, "Version 3 current", "Version 2", "Version 1")
	if got := content(t, s, "/resources/"+rid+"/data"); got != "second,volt\n0,1.5\n" {
		t.Errorf("the restored file is %q", got)
	}
	v.Press("Restore version 2")
	v.Sees("restored as version 4", "the wrong file")
	if got := content(t, s, "/resources/"+rid+"/data"); got != "the wrong file" {
		t.Errorf("after the undo, the file is %q", got)
	}
}

// Restoring an older version fails if another user has saved a new version since the page was
// loaded.
func TestRestoreOnlyOverShownVersion(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	rid := history(t, s, sid, "one", "two")
	v := s.SignedIn(t, s.Key(), "/resources/"+rid, "status of 412")
	versions(v, "Version 2 current", "Version 1")
	v.IgnoreFocus()
	s.Overwrite(t, rid, "three")
	v.Press("Restore version 1")
	v.Sees("Version 1 was not restored", "was changed since this page was loaded")
	if got := content(t, s, "/resources/"+rid+"/data"); got != "three" {
		t.Fatalf("the file is %q", got)
	}
	v.Press("Close")
	versions(v, "Version 3 current", "Version 2", "Version 1")
	v.Press("Restore version 1")
	v.Sees("restored as version 4")
}

// A reader can view and download every version, but the page offers no changes.
func TestReaderOfVersions(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	rid := history(t, s, sid, "the old text", "the new text")
	s.Do(t, http.MethodPut, "/resources/"+rid+"/versions/1/label", map[string]string{"label": "as published"})
	v := s.SignedIn(t, s.Person(t, "jon", "member", did).Key, "/resources/"+rid)
	versions(v, "Version 2 current", "Version 1 as published")
	changes := `[...document.querySelectorAll("main button")].some((b) => /Restore|Label|Erase|Replace/.test(b.textContent))`
	v.Until("!" + changes)
	v.Follow("Version 1")
	v.IsAt("/resources/" + rid + "/versions/1")
	v.Sees("a.txt, version 1", "as published", "the old text")
	v.Until("!" + changes)
	old := browser.Get(v, chromedp.Evaluate[string](`fetch([...document.querySelectorAll("main a")].find((a) => a.innerText.includes("Download")).href).then((r) => r.text())`, chromedp.EvalAwaitPromise))
	if old != "the old text" {
		t.Errorf("the download is %q", old)
	}
	v.At("/resources/" + rid + "/versions/2")
	v.Sees("current", "the new text")
}

// A label can be added, is shown, and can be removed.
func TestLabelOfVersion(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	rid := history(t, s, sid, "one", "two")
	v := s.SignedIn(t, s.Key(), "/resources/"+rid)
	v.Press("Label version 1")
	v.Types("label", "as published")
	v.Shot("label")
	v.Submit()
	versions(v, "Version 2 current", "Version 1 as published")
	v.Follow("Version 1")
	v.Press("Label")
	v.Until(`document.querySelector("dialog [name=label]").value === "as published"`)
	v.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("dialog [name=label]").select()`), chromedp.SendKeys(chromedp.CSS(`dialog [name=label]`), "\b"))
	v.Submit()
	v.Until(`!document.querySelector("dialog")`)
	v.SeesNot("as published")
	if got := s.Field(t, "/resources/"+rid+"/versions/1", "label"); got != "" {
		t.Errorf("the label is %q", got)
	}
}

// A sysadmin erases a version, after a confirmation that names the consequences. Other users do not
// see this action. The page of the version and the list show when and why it was removed. The same
// applies to versions removed by the retention.
func TestErasedVersions(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	rid := history(t, s, sid, "participant 17", "two", "three", "four")
	s.Do(t, http.MethodPut, "/resources/"+rid+"/versions/1/label", map[string]string{"label": "as sent"})
	mara := s.SignedIn(t, s.Person(t, "mara", "admin", did).Key, "/resources/"+rid+"/versions/1")
	mara.Sees("participant 17")
	mara.Until(`![...document.querySelectorAll("button")].some((b) => b.textContent.includes("Erase"))`)

	v := s.SignedIn(t, s.Key(), "/resources/"+rid+"/versions/1")
	v.Sees("participant 17")
	v.Press("Erase")
	v.Sees("Erase version 1?", "All 14 bytes of this version are immediately and permanently removed", "Its label, “as sent”, does not protect it")
	v.Shots("erase")
	v.Submit()
	v.Sees("The file of version 1 was removed just now by admin (erased by a sysadmin)")
	v.SeesNot("participant 17")
	v.Until(`![...document.querySelectorAll("main .actions *")].some((b) => /Download|Restore|Label|Erase/.test(b.textContent))`)
	v.Shots("erased")

	s.Do(t, http.MethodPut, "/dataspaces/"+did, map[string]string{"retention": "last 2"})
	s.Do(t, http.MethodPost, "/admin/purge", map[string]string{"olderThan": "0s"})
	v.At("/resources/" + rid)
	versions(v, "Version 4 current", "Version 3", "Version 2 removed", "Version 1 as sent removed")
	v.Until(`[...document.querySelectorAll(".list.versions .body button")].filter((b) => b.textContent.includes("Restore")).length === 1`)
	v.Follow("Version 2")
	v.Sees("The file of version 2 was removed just now (retention: last 2). Its record stays.")
	v.At("/resources/" + rid + "/versions/4?with=2")
	v.Sees("From version 2 to version 4", "The file of version 2 was removed just now")

	v.Expect("status of 404", "status of 410")
	v.At("/resources/" + rid + "/versions/9")
	v.Sees("its versions are numbered from 1 to 4", "Go to the file")
	v.At("/resources/" + rid + "/versions/x")
	v.Sees("the resource has no such version")
	mara.Expect("status of 410") // the page receives the event of the deletion
	s.Do(t, http.MethodDelete, "/resources/"+rid, nil)
	v.At("/resources/" + rid + "/versions/3")
	v.Sees("the resource is deleted; restore it to access its versions")
	v.Follow("Go to the file")
	v.Sees("This file is in the trash")
	v.SeesNot("all versions")
}

// The page of an erased version shows if its content remains because something else uses it.
func TestErasedVersionWithSharedBytes(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	rid := history(t, s, sid, "participant 17", "two", "participant 17")
	v := s.SignedIn(t, s.Key(), "/resources/"+rid+"/versions/1", "status of 410") // the preview may still read the erased version
	v.Press("Erase")
	v.Submit()
	v.Sees("was removed just now", "The bytes stay because another version")
}

// A long history is fetched page by page.
func TestManyVersions(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	contents := make([]string, 450)
	for i := range contents {
		contents[i] = fmt.Sprint("version ", i+1)
	}
	rid := history(t, s, sid, contents...)
	v := s.SignedIn(t, s.Key(), "/resources/"+rid)
	v.Until(`(scrollTo(0, document.documentElement.scrollHeight), document.body.innerText.includes("450 versions"))`)
	v.Follow("Version 1")
	v.Sees("a.txt, version 1")
}

// differences returns the rows of a comparison: line numbers, +, − or a space, the text, and its
// marked part.
func differences(v *browser.Visitor) string {
	v.T.Helper()
	v.Until(`document.querySelector(".differences")`)
	return browser.Get(v, chromedp.Evaluate[string](`[...document.querySelectorAll(".differences tbody tr")].map((r) => {
		if (r.classList.contains("unchanged")) return r.innerText.trim();
		const [before, after, sign, text] = r.cells;
		const mark = text.querySelector("mark");
		return before.textContent + "/" + after.textContent + (sign.querySelector("[aria-hidden]")?.textContent ?? " ") + text.textContent + (mark ? " [" + mark.textContent + "]" : "");
	}).join("\n")`))
}

// Two versions of a table are compared line by line. Differences within a line are marked, and
// unchanged lines can be shown.
func TestCompareVersions(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	var rows []string
	for i := range 40 {
		rows = append(rows, fmt.Sprintf("%d,1.%d,ok", i, i))
	}
	old := strings.Join(rows, "\n") + "\n"
	rows[20] = "20,7.5,ok"
	rows = append(rows[:30], append([]string{"30,9.9,new"}, rows[30:]...)...)
	rid := history(t, s, sid, old, strings.Join(rows, "\n")+"\n")
	v := s.SignedIn(t, s.Key(), "/resources/"+rid)
	v.Follow("Compare version 1 with the current one")
	v.IsAt("/resources/" + rid + "/versions/1?with=2")
	v.Sees("From version 1 to version 2", "1 line removed, 2 added", "Show 17 unchanged lines")
	want := `Show 17 unchanged lines
18/18 17,1.17,ok
19/19 18,1.18,ok
20/20 19,1.19,ok
21/−20,1.20,ok [1.20]
/21+20,7.5,ok [7.5]
22/22 21,1.21,ok
23/23 22,1.22,ok
24/24 23,1.23,ok
Show 3 unchanged lines
28/28 27,1.27,ok
29/29 28,1.28,ok
30/30 29,1.29,ok
/31+30,9.9,new
31/32 30,1.30,ok
32/33 31,1.31,ok
33/34 32,1.32,ok
Show 7 unchanged lines`
	if got := differences(v); got != want {
		t.Errorf("the comparison is\n%s", got)
	}
	v.Shots("compare")
	v.Press("Show 3 unchanged lines")
	v.Until(`document.querySelector(".differences").innerText.includes("25,1.25,ok")`)
	v.At("/resources/" + rid + "/versions/2?with=1")
	v.Sees("From version 1 to version 2", "1 line removed, 2 added")
	v.Follow("Show version 2 alone")
	v.Sees("9.9")
	v.IsAt("/resources/" + rid + "/versions/2")
}

// The page reports versions that cannot be compared line by line, and versions whose lines are
// equal.
func TestCompareOtherVersions(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	var up, down []string
	for i := range 20_000 {
		up = append(up, fmt.Sprint("line ", i*7919%20_000))
		down = append(down, fmt.Sprint("line ", i*104_729%20_000))
	}
	large := strings.Repeat("0123456789\n", 400_000)
	rid := history(t, s, sid, "one\ntwo", "one\ntwo\n", "one\r\ntwo\n", "\x00\x01\x02", "one\ntwo", strings.Join(up, "\n"), strings.Join(down, "\n"), large,
		strings.Repeat("0123456789\n", 360_000), strings.Repeat("abcdefghij\n", 360_000))
	v := s.SignedIn(t, s.Key(), "/account")
	for _, c := range []struct {
		of, with int
		shows    string
	}{
		{1, 2, "All lines are the same"},
		{2, 3, "1 line removed, 1 added"},
		{3, 4, "Only text is compared line by line"},
		{1, 5, "Both versions have the same content"},
		{6, 7, "The versions differ too much to match all lines"},
		{7, 8, "Only files of up to 4 MB are compared line by line"},
		{9, 10, "360,000 lines removed, 360,000 added"},
	} {
		v.At(fmt.Sprintf("/resources/%s/versions/%d?with=%d", rid, c.of, c.with))
		v.Sees(c.shows)
		if c.with == 3 {
			if got := differences(v); got != "1/−one\n/1+one␍ [␍]\n2/2 two" {
				t.Errorf("the comparison is\n%s", got)
			}
		}
	}
	v.At(fmt.Sprintf("/resources/%s/versions/6?with=7", rid))
	v.Until(`document.querySelectorAll(".differences tbody tr").length === 2000`)
	v.Press("Show more")
	v.Until(`document.querySelectorAll(".differences tbody tr").length === 4000`)
}

// An admin selects which versions are kept. The page of the dataspace shows this, and the size of
// old versions.
func TestRetentionOfDataspace(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	did, sid := s.NewSet(t)
	history(t, s, sid, strings.Repeat("x", 3000), "two")
	v := s.SignedIn(t, s.Person(t, "mara", "admin", did).Key, "/dataspaces/"+did)
	v.Sees("All versions of files are kept; old ones take 3.0 kB")
	for _, c := range []struct{ kind, label, number, retention, shows string }{
		{"last", "Number of versions", "5", "last 5", "The last 5 versions of each file are kept; old ones take 3.0 kB"},
		{"days", "Number of days", "90", "90 days", "Versions of files are kept for 90 days after they were replaced"},
		{"everything", "", "", "everything", "All versions of files are kept; old ones"},
	} {
		menu(v, "Edit")
		v.Do(chromedp.SetValue(browser.Field("Versions kept"), c.kind), chromedp.Evaluate[chromedp.Void](
			`document.querySelector(".retention select").dispatchEvent(new Event("change", { bubbles: true }))`))
		if c.label != "" {
			v.Fill(c.label, c.number)
		}
		v.Shots("retention-" + c.kind)
		v.Submit()
		v.Until(`!document.querySelector("dialog")`)
		v.Sees(c.shows)
		if got := s.Field(t, "/dataspaces/"+did, "retention"); got != c.retention {
			t.Errorf("the retention is %q", got)
		}
	}
	menu(v, "Edit")
	v.Expect("status of 400")
	v.Do(chromedp.SetValue(browser.Field("Versions kept"), "days"), chromedp.Evaluate[chromedp.Void](
		`document.querySelector(".retention select").dispatchEvent(new Event("change", { bubbles: true }))`))
	v.Fill("Number of days", "40000")
	v.Submit()
	v.Sees("retention must be everything, last N")
}
