package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/verify/e2e"
)

// task is something that a new user wants, from a page where a session begins.
type task struct {
	name string
	from string // a path
	most int    // presses of the pointer; keys are not counted
	does func(v *visitor)
}

// counts has the window count presses of its pointer, over all documents.
func (v *visitor) counts() {
	v.t.Helper()
	const script = `addEventListener("pointerdown", (e) => { if (e.isTrusted) sessionStorage.setItem("pressed", 1 + +(sessionStorage.getItem("pressed") ?? 0)); }, true)`
	if _, err := chromedp.Call(v.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
		v.fail(err)
	}
}

// pressed returns how often the pointer was pressed since the last call.
func (v *visitor) pressed() int {
	v.t.Helper()
	return get(v, chromedp.Evaluate[int](`((n) => (sessionStorage.removeItem("pressed"), n))(+(sessionStorage.getItem("pressed") ?? 0))`))
}

// Eight things that people come for, each within a number of clicks that was counted.
func TestTasks(t *testing.T) {
	t.Parallel()
	s := open(t, "--invitations", "admins")
	did, sid := s.makeSet(t)
	var ten []string
	for i := range 10 {
		ten = append(ten, fmt.Sprintf("run-%02d.txt", i))
	}
	rest := []string{"raw/laser-power-2026.csv", "raw/notes.txt"}
	s.put(t, sid, append(rest, ten...)...)
	second := s.create(t, "/sets", map[string]string{"name": "second", "title": "Second set", "dataspaceId": did})
	h5 := testFile(t, "sight", "compound-dtype-complex.h5")
	if _, err := s.Upload(t.Context(), "POST", "/resources", e2e.File{SetID: second, Name: "beam.h5", Filename: "beam.h5", Body: strings.NewReader(h5), Size: int64(len(h5))}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cold.csv", "warm.csv"} {
		s.send(t, second, fileWith(t, name, "t,volt\n0,1.5\n1,1.25\n2,1\n"))
	}
	mara := s.person(t, "mara", "admin", did)
	v := s.visit(t)
	v.counts()
	v.at("/")
	v.signIn(mara.key)
	for _, task := range []task{
		{"find a file by part of its name", "/", 2, func(v *visitor) {
			click(v, chromedp.CSS(`input[name="q"]`))
			v.do(chromedp.KeyEvent("power"))
			v.key("Enter", "Enter", "\r")
			v.follow("File raw/laser-power-2026.csv")
			v.until(`document.querySelector("h1")?.innerText.includes("laser-power-2026.csv")`)
		}},
		{"look at a slice of an HDF5 file", "/sets/" + second, 2, func(v *visitor) {
			v.follow("beam.h5")
			v.press("c16")
			v.until(`document.querySelector(".side .sheet-table td")`)
		}},
		{"compare two columns of two files in one plot", "/sets/" + second, 3, func(v *visitor) {
			v.toggle("cold.csv", "warm.csv")
			v.follow("Plot together")
			v.until(`document.querySelectorAll(".plot-table").length === 2 && document.querySelectorAll(".u-series").length === 3`)
		}},
		{"fetch one folder", "/sets/" + sid, 2, func(v *visitor) {
			v.follow("raw")
			click(v, xpath("a", "Download folder"))
		}},
		{"move ten files", "/sets/" + sid, 4, func(v *visitor) {
			v.toggle("run-00.txt")
			v.do(chromedp.QueryAfter(xpath("input", "Select run-09.txt"), func(ctx context.Context, t *chromedp.Target, nodes []*chromedp.Node) (chromedp.Void, error) {
				return chromedp.MouseClickNode(nodes[0], chromedp.ButtonModifiers(kb.ModifierShift))(ctx, t)
			}, chromedp.NodeVisible))
			v.selected(10)
			v.press("Move or copy …")
			v.until(`document.querySelectorAll("dialog select")[1]?.selectedOptions[0]?.innerText === "Second set"`)
			v.submit()
			v.sees("10 files moved to Second set.")
		}},
		{"undo", "", 1, func(v *visitor) {
			v.press("Undo")
			v.sees("Undone: 10 files are back.")
		}},
		{"see what changed this week", "/", 2, func(v *visitor) {
			v.follow("Laser lab")
			v.follow("Files of all sets") // the newest change first
			v.sees("beam.h5", "run-09.txt")
		}},
		{"invite a colleague", "/", 4, func(v *visitor) {
			v.follow("Laser lab")
			v.menuOf("Share", "Invite …")
			v.newLink()
		}},
	} {
		if task.from != "" {
			v.at(task.from)
			v.loaded()
		}
		v.pressed()
		task.does(v)
		if n := v.pressed(); n > task.most {
			t.Errorf("%s: %d clicks, at most %d", task.name, n, task.most)
		} else {
			t.Logf("%s: %d clicks", task.name, n)
		}
	}
}
