package pages

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/verify/e2e"
	"labshelf/verify/e2e/browser"
)

// task is a goal of a new user, on the page where a session begins.
type task struct {
	name string
	from string // a path
	most int    // maximum number of clicks; keys are not counted
	does func(v *browser.Visitor)
}

// counts makes the window count clicks in all its documents.
func counts(v *browser.Visitor) {
	v.T.Helper()
	const script = `addEventListener("pointerdown", (e) => { if (e.isTrusted) sessionStorage.setItem("pressed", 1 + +(sessionStorage.getItem("pressed") ?? 0)); }, true)`
	if _, err := chromedp.Call(v.Context, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
		v.Fail(err)
	}
}

// pressed returns the number of clicks since the last call.
func pressed(v *browser.Visitor) int {
	v.T.Helper()
	return browser.Get(v, chromedp.Evaluate[int](`((n) => (sessionStorage.removeItem("pressed"), n))(+(sessionStorage.getItem("pressed") ?? 0))`))
}

// Eight common tasks take at most the given numbers of clicks.
func TestTasks(t *testing.T) {
	t.Parallel()
	s := browser.Open(t, "--invitations", "admins")
	did, sid := s.NewSet(t)
	var ten []string
	for i := range 10 {
		ten = append(ten, fmt.Sprintf("run-%02d.txt", i))
	}
	rest := []string{"raw/laser-power-2026.csv", "raw/notes.txt"}
	s.Put(t, sid, append(rest, ten...)...)
	second := s.Create(t, "/sets", map[string]string{"name": "second", "title": "Second set", "dataspaceId": did})
	h5 := browser.TestFile(t, "sight", "compound-dtype-complex.h5")
	if _, err := s.Upload(t.Context(), "POST", "/resources", e2e.File{SetID: second, Name: "beam.h5", Filename: "beam.h5", Body: strings.NewReader(h5), Size: int64(len(h5))}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cold.csv", "warm.csv"} {
		s.Send(t, second, browser.FileWith(t, name, "t,volt\n0,1.5\n1,1.25\n2,1\n"))
	}
	mara := s.Person(t, "mara", "admin", did)
	v := s.Visit(t)
	counts(v)
	v.At("/")
	v.SignIn(mara.Key)
	for _, task := range []task{
		{"find a file by part of its name", "/", 2, func(v *browser.Visitor) {
			browser.Click(v, chromedp.CSS(`input[name="q"]`))
			v.Do(chromedp.KeyEvent("power"))
			v.Key("Enter", "Enter", "\r")
			v.Follow("File raw/laser-power-2026.csv")
			v.Until(`document.querySelector("h1")?.innerText.includes("laser-power-2026.csv")`)
		}},
		{"look at a slice of an HDF5 file", "/sets/" + second, 2, func(v *browser.Visitor) {
			v.Follow("beam.h5")
			v.Press("c16")
			v.Until(`document.querySelector(".side .sheet-table td")`)
		}},
		{"compare two columns of two files in one plot", "/sets/" + second, 3, func(v *browser.Visitor) {
			toggle(v, "cold.csv", "warm.csv")
			v.Follow("Plot together")
			v.Until(`document.querySelectorAll(".plot-table").length === 2 && document.querySelectorAll(".u-series").length === 3`)
		}},
		{"fetch one folder", "/sets/" + sid, 2, func(v *browser.Visitor) {
			v.Follow("raw")
			browser.Click(v, browser.Xpath("a", "Download folder"))
		}},
		{"move ten files", "/sets/" + sid, 4, func(v *browser.Visitor) {
			toggle(v, "run-00.txt")
			v.Do(chromedp.QueryAfter(browser.Xpath("input", "Select run-09.txt"), func(ctx context.Context, t *chromedp.Target, nodes []*chromedp.Node) (chromedp.Void, error) {
				return chromedp.MouseClickNode(nodes[0], chromedp.ButtonModifiers(kb.ModifierShift))(ctx, t)
			}, chromedp.NodeVisible))
			selected(v, 10)
			v.Press("Move or copy …")
			v.Until(`document.querySelectorAll("dialog select")[1]?.selectedOptions[0]?.innerText === "Second set"`)
			v.Submit()
			v.Sees("10 files moved to Second set.")
		}},
		{"undo", "", 1, func(v *browser.Visitor) {
			v.Press("Undo")
			v.Sees("Undone: 10 files are back.")
		}},
		{"see what changed this week", "/", 2, func(v *browser.Visitor) {
			v.Follow("Laser lab")
			v.Follow("Files of all sets") // the newest change first
			v.Sees("beam.h5", "run-09.txt")
		}},
		{"invite a colleague", "/", 4, func(v *browser.Visitor) {
			v.Follow("Laser lab")
			menuOf(v, "Share", "Invite …")
			newLink(v)
		}},
	} {
		if task.from != "" {
			v.At(task.from)
			v.Loaded()
		}
		pressed(v)
		task.does(v)
		if n := pressed(v); n > task.most {
			t.Errorf("%s: %d clicks, want at most %d", task.name, n, task.most)
		} else {
			t.Logf("%s: %d clicks", task.name, n)
		}
	}
}
