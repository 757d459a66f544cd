package pages

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
	"labshelf/verify/e2e/browser"
)

// scan returns an image of 200 by 150 pixels.
func scan(t *testing.T) []byte {
	t.Helper()
	picture := image.NewGray(image.Rect(0, 0, 200, 150))
	for i := range picture.Pix {
		picture.Pix[i] = uint8(i % 251)
	}
	picture.SetGray(0, 0, color.Gray{255})
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A list shows symbols for kinds of files, and thumbnails of images. Columns and density can be
// selected by keyboard, and are remembered. An open folder can be sorted by time.
func TestListView(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	for _, name := range []string{"raw/scan.png", "raw/curve.csv", "raw/sub/x.txt", "raw/reads.fastq", "raw/notes.md", "raw/run.h5", "raw/analysis.py", "raw/old.zip", "raw/protein.pdb", "raw/film.mp4", "raw/odd.qqq", "raw/broken.png"} {
		body := []byte(name)
		if name == "raw/scan.png" || name == "raw/broken.png" {
			body = scan(t)
		}
		if name == "raw/broken.png" {
			body = body[:20]
		}
		file := e2e.File{SetID: sid, Name: name, Filename: name[4:], Body: bytes.NewReader(body), Size: int64(len(body))}
		if _, err := s.Upload(t.Context(), http.MethodPost, "/resources", file); err != nil {
			t.Fatal(err)
		}
	}
	script := browser.Axe(t)
	v := s.SignedIn(t, s.Key(), "/sets/"+sid+"?folder=raw/")
	v.Lists("sub", "analysis.py", "broken.png", "curve.csv", "film.mp4", "notes.md", "odd.qqq", "old.zip", "protein.pdb", "reads.fastq", "run.h5", "scan.png")
	v.Until(`document.querySelector(".list img.thumbnail")?.naturalWidth === 200`)
	v.Until(`document.querySelectorAll(".list img").length === 1`) // a broken image has a symbol
	if kinds := browser.Get(v, chromedp.Evaluate[int](`new Set([...document.querySelectorAll(".list .body .named svg path")].map((p) => p.getAttribute("d"))).size`)); kinds != 10 {
		t.Errorf("got %d different symbols, want 10", kinds) // for a folder and nine kinds of files
	}
	looks(v, "list-view", script)
	v.Size(1280, 800)

	v.Press("Changed")
	v.IsAt("/sets/" + sid + "?folder=raw%2F&order=newest")
	v.Lists("sub", "broken.png", "odd.qqq", "film.mp4", "protein.pdb", "old.zip", "analysis.py", "run.h5", "notes.md", "reads.fastq", "curve.csv", "scan.png")
	v.Press("Changed")
	v.Lists("sub", "scan.png", "curve.csv", "reads.fastq", "notes.md", "run.h5", "analysis.py", "old.zip", "protein.pdb", "film.mp4", "odd.qqq", "broken.png")

	heads := func(want string) {
		t.Helper()
		v.Until(`[...document.querySelectorAll(".list .head [role=columnheader]")].slice(1).map((h) => h.innerText.trim()).join() === "` + want + `"`)
	}
	heads("Name,Format,Size,Changed,Description")
	v.Do(chromedp.Focus(chromedp.CSS(".list-menu summary")))
	v.Key("Enter", "Enter", "\r")
	v.Sees("Comfortable")
	browser.Click(v, chromedp.CSS(`.list-menu label:nth-of-type(4) input`))
	browser.Click(v, chromedp.CSS(`.list-menu label:nth-of-type(6) input`))
	v.Do(chromedp.Focus(chromedp.CSS(`.list-menu input[type="radio"]:not(:checked)`)))
	v.Key(" ", "Space", " ")
	heads("Name,Format,Size,Changed,Type")
	v.Until(`document.querySelector(".list .body .row").getBoundingClientRect().height === 44`)
	looks(v, "list-columns", script)
	v.Size(1280, 800)
	v.Key("Escape", "Escape", "\x1b")
	v.Until(`!document.querySelector(".list-menu").open`)
	v.At("/sets/" + sid)
	heads("Name,Format,Size,Changed,Type")
	v.Until(`document.querySelector(".list").classList.contains("comfortable")`)
}
