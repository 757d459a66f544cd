package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// solid is what a reference reader says about a file of testdata/solid.
type solid struct {
	Facts     map[string]any
	Formula   map[string]int
	Frames    int
	Cell      []float64
	Unordered bool
	Rows      map[string][][]any // the first atoms of a model by its number: an element, and x, y, z
}

// solidFile returns a file of another project.
func solidFile(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "solid", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// isSurface tells which of the two decoders reads a file.
func isSurface(name string) bool {
	return slices.Contains([]string{".stl", ".ply", ".obj"}, strings.ToLower(filepath.Ext(name)))
}

// isDrawn waits until a model is drawn with all of its pixels.
func (l *viewer) isDrawn() {
	l.t.Helper()
	l.until(`document.querySelector("[data-sight] canvas[data-drawn]")?.width >= 2 * document.querySelector("[data-sight] canvas").clientWidth - 1`)
	l.rendered()
}

// facts returns the names and values that are shown beside a model.
func (l *viewer) facts() map[string]string {
	l.t.Helper()
	return get(l.visitor, chromedp.Evaluate[map[string]string](`Object.fromEntries([...document.querySelectorAll(".attributes tr")].map((r) => [...r.children].map((c) => c.textContent)))`))
}

var numbers = regexp.MustCompile(`-?[0-9.]+(e[-+]?[0-9]+)?`)

// sameNumber tells whether two numbers are equal but for the digits that are not shown.
func sameNumber(a, b float64) bool { return math.Abs(a-b) <= 1e-5*math.Max(1e-3, math.Abs(b)) }

// says compares a fact with what the reference reader says.
func says(fact string, want any) bool {
	switch want := want.(type) {
	case bool:
		return strings.HasPrefix(fact, "yes") == want
	case float64:
		first, err := strconv.ParseFloat(numbers.FindString(fact), 64)
		return err == nil && sameNumber(first, want)
	case []any: // bounds: the lowest x, y, z, then the highest
		found := numbers.FindAllString(fact, -1)
		for i, value := range want {
			at := i%3*2 + i/3
			if at >= len(found) {
				return false
			}
			if n, err := strconv.ParseFloat(found[at], 64); err != nil || !sameNumber(n, value.(float64)) {
				return false
			}
		}
		return true
	}
	return false
}

// formula returns how often each element is in a text such as "C2 H6 O".
func formula(text string) map[string]int {
	counts := map[string]int{}
	for _, word := range strings.Fields(text) {
		symbol := strings.TrimRight(word, "0123456789")
		n, err := strconv.Atoi(word[len(symbol):])
		if err != nil {
			n = 1
		}
		counts[symbol] = n
	}
	return counts
}

// atoms returns the table of atoms: an element and a place each.
func (l *viewer) atoms() [][]any {
	l.t.Helper()
	return get(l.visitor, chromedp.Evaluate[[][]any](`(() => {
		const names = [...document.querySelectorAll(".sheet-table thead th")].map((h) => h.textContent.trim());
		const at = ["element", "x", "y", "z"].map((n) => names.indexOf(n));
		return [...document.querySelectorAll(".sheet-table tbody tr")].map((r) => at.map((n, i) => (i ? Number(r.children[n].textContent) : r.children[n].textContent)));
	})()`))
}

// isAtom tells whether two rows name the same atom in the same place.
func isAtom(shown, want []any) bool {
	for i := 1; i < 4; i++ {
		if math.Abs(shown[i].(float64)-want[i].(float64)) > 2e-3 {
			return false
		}
	}
	return strings.EqualFold(shown[0].(string), want[0].(string))
}

// hasAtoms compares the table of atoms with what the reference reader says, in its order or in any.
func (l *viewer) hasAtoms(name, frame string, want [][]any, unordered bool) {
	l.t.Helper()
	l.waitFor(func() error {
		shown := l.atoms()
		for i, row := range want {
			found := i < len(shown) && isAtom(shown[i], row)
			if unordered {
				found = slices.ContainsFunc(shown, func(other []any) bool { return isAtom(other, row) })
			}
			if !found {
				return fmt.Errorf("%s, model %s: atom %d is not %v; the table is %v", name, frame, i, row, shown)
			}
		}
		return nil
	})
}

// Files that other projects made show what the reference readers of their formats find: counts, measures, and where each atom is.
func TestSightOfModels(t *testing.T) {
	t.Parallel()
	var files map[string]solid
	if err := json.Unmarshal([]byte(solidFile(t, "expected.json")), &files); err != nil {
		t.Fatal(err)
	}
	l := openViewer(t)
	l.size(600, 500) // a small picture
	for name, want := range files {
		t.Log(name)
		r := l.put(name, solidFile(t, name))
		if isSurface(name) || slices.Contains([]string{"4hhh_frag.pdb", "made-steps.xyz", "reference.ply", "doravirine.mol"}, name) {
			l.at("/resources/" + r.ID)
			l.isDrawn()
			l.shots("solid-" + name)
			l.size(600, 500)
		}
		if isSurface(name) {
			l.sights("mesh")
			l.hasFacts(name, want)
			continue
		}
		for _, frame := range slices.Sorted(maps.Keys(want.Rows)) {
			l.at("/resources/" + r.ID + "?view=atoms&frame=" + frame)
			l.sights("molecule")
			if frame != "1" {
				l.sees(fmt.Sprintf("%s of %d", frame, want.Frames))
			}
			l.hasAtoms(name, frame, want.Rows[frame], want.Unordered)
			if frame == "1" {
				l.hasFacts(name, want)
			}
		}
	}
}

// hasFacts compares what is said beside a model with what the reference reader says.
func (l *viewer) hasFacts(name string, want solid) {
	l.t.Helper()
	facts := l.facts()
	for fact, value := range want.Facts {
		if !says(facts[fact], value) {
			l.t.Errorf("%s: %s is %q; want %v", name, fact, facts[fact], value)
		}
	}
	if got := formula(facts["formula"]); want.Formula != nil && !maps.Equal(got, want.Formula) {
		l.t.Errorf("%s: the elements are %v; want %v", name, got, want.Formula)
	}
	cell := numbers.FindAllString(facts["cell"], -1)
	if want.Cell != nil && len(cell) != 6 {
		l.t.Errorf("%s: the cell is %q; want %v", name, facts["cell"], want.Cell)
	}
	for i, found := range cell {
		if n, err := strconv.ParseFloat(found, 64); want.Cell != nil && (err != nil || !sameNumber(n, want.Cell[i])) {
			l.t.Errorf("%s: the cell is %s; want %v", name, facts["cell"], want.Cell)
		}
	}
}

// canvas is where the picture of a model is on the screen.
type canvas struct {
	image.Image
	box [4]float64 // left, top, width, height
}

// pictured takes a picture of the model as it is seen.
func (l *viewer) pictured() canvas {
	l.t.Helper()
	box := get(l.visitor, chromedp.Evaluate[[4]float64](`(() => {
		const canvas = document.querySelector(".stage canvas");
		canvas.scrollIntoView({ block: "center" });
		const { left, top, width, height } = canvas.getBoundingClientRect();
		return [left, top, width, height];
	})()`))
	l.rendered()
	content, err := run(l.visitor, chromedp.CaptureScreenshot())
	if err != nil {
		l.fail(err)
	}
	picture, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		l.fail(err)
	}
	return canvas{picture, box}
}

// at returns the colour at fractions of the width and the height.
func (c canvas) at(x, y float64) [3]int {
	r, g, b, _ := c.At(int(c.box[0]+x*c.box[2]), int(c.box[1]+y*c.box[3])).RGBA()
	return [3]int{int(r >> 8), int(g >> 8), int(b >> 8)}
}

func isRed(c [3]int) bool  { return c[0] > 70 && c[1] < c[0]/2 && c[2] < c[0]/2 }
func isBlue(c [3]int) bool { return c[2] > 120 && c[0] < c[2]*3/4 && c[1] < c[2]*3/4 }

// colours waits until a place of the picture has a colour.
func (l *viewer) colours(what string, x, y float64, is func([3]int) bool) {
	l.t.Helper()
	l.waitFor(func() error {
		if found := l.pictured().at(x, y); !is(found) {
			return fmt.Errorf("%s: the colour at %v, %v is %v", what, x, y, found)
		}
		return nil
	})
}

// pair are two atoms in a row along the view: oxygen in front of nitrogen.
const pair = "2\n\nO 0 0 3\nN 0 0 -3\n"

// A model is really drawn, and is rotated, enlarged and put back by keys, by buttons and by dragging. The page scrolls by the wheel until the
// picture has the focus. Nothing is drawn while nothing changes.
func TestModelIsTurned(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.size(700, 600)
	l.file("pair.xyz", pair)
	l.isDrawn()
	sheet := get(l.visitor, chromedp.Evaluate[string](`getComputedStyle(document.querySelector(".stage canvas")).backgroundColor`))
	isGround := func(c [3]int) bool { return fmt.Sprintf("rgb(%d, %d, %d)", c[0], c[1], c[2]) == sheet }
	l.colours("at first", 0.5, 0.5, isRed)
	l.colours("beside it", 0.9, 0.5, isGround)
	l.do(chromedp.Focus(chromedp.CSS(".stage canvas")))
	for range 18 {
		l.do(chromedp.KeyEvent(kb.ArrowRight))
	}
	l.colours("from behind", 0.5, 0.5, isBlue)
	l.do(chromedp.KeyEvent("0"))
	l.colours("put back", 0.5, 0.5, isRed)
	for range 9 {
		l.do(chromedp.KeyEvent(kb.ArrowDown))
	}
	l.colours("from above", 0.5, 0.5, isGround)
	l.do(chromedp.KeyEvent(kb.Home))
	l.colours("home", 0.5, 0.5, isRed)
	l.colours("small", 0.5, 0.65, isGround)
	for range 6 {
		l.press("Larger")
	}
	l.colours("enlarged", 0.5, 0.65, isRed)
	l.press("Reset")
	l.drag(".stage canvas", 0.2, 0.8)
	l.colours("dragged", 0.5, 0.5, isGround)

	l.press("Reset")
	l.colours("put back", 0.5, 0.5, isRed)
	l.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur(), scrollTo(0, 0)`))
	wheel := func() {
		t.Helper()
		// chromedp leaves out a distance of zero, which Chromium wants.
		params := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, X: 350, Y: 450, DeltaX: 0.001, DeltaY: -100}
		if _, err := chromedp.Call(l.ctx, input.DispatchMouseEvent, params); err != nil {
			t.Fatal(err)
		}
	}
	drawn := func() int {
		return get(l.visitor, chromedp.Evaluate[int](`Number(document.querySelector(".stage canvas").dataset.drawn)`))
	}
	before := drawn()
	wheel()
	for range 30 {
		l.rendered()
	}
	if after := drawn(); after != before {
		t.Errorf("it was drawn %d times while nothing changed", after-before)
	}
	l.do(chromedp.Focus(chromedp.CSS(".stage canvas")))
	for range 5 {
		wheel()
	}
	l.colours("enlarged by the wheel", 0.5, 0.62, isRed)
}

// Styles, the colours of a file, and the theme are seen in the picture, which can be saved.
func TestModelStyles(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.size(700, 600)
	l.file("pair.xyz", pair)
	l.isDrawn()
	l.choose("Style", "space-filling")
	l.colours("with the radius of van der Waals", 0.5, 0.6, isRed)
	l.theme("dark")
	l.colours("in the dark", 0.95, 0.05, func(c [3]int) bool { return c[0] < 60 && c[1] < 60 && c[2] < 60 })
	folder := t.TempDir()
	if _, err := chromedp.CallBrowser(l.ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder,
		BrowserContextID: chromedp.FromContext(l.ctx).BrowserContextID}); err != nil {
		t.Fatal(err)
	}
	l.press("Save as PNG")
	l.waitFor(func() error {
		content, err := os.ReadFile(filepath.Join(folder, "pair.xyz.png"))
		if err != nil {
			return err
		}
		picture, err := png.Decode(bytes.NewReader(content))
		if err != nil {
			return err
		}
		saved := canvas{picture, [4]float64{0, 0, float64(picture.Bounds().Dx()), float64(picture.Bounds().Dy())}}
		if middle, corner := saved.at(0.5, 0.5), saved.at(0.01, 0.01); !isRed(middle) || corner[0] == 0 || corner[0] > 60 {
			return fmt.Errorf("the colours of the saved picture are %v and %v", middle, corner)
		}
		return nil
	})
	l.theme("light")

	square := "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n" +
		"element face 1\nproperty list uchar int vertex_index\nend_header\n-1 -1 0 0 0 255\n1 -1 0 0 0 255\n1 1 0 0 0 255\n-1 1 0 0 0 255\n4 0 1 2 3\n"
	l.file("blue.ply", square)
	l.isDrawn()
	l.colours("with the colours of the file", 0.5, 0.5, isBlue)
	l.choose("Style", "wireframe")
	l.colours("as wires", 0.47, 0.5, func(c [3]int) bool { return !isBlue(c) })
	l.file("cube.stl", solidFile(t, "origin_inside.STL"))
	l.isDrawn()
	l.colours("a surface without colours", 0.5, 0.45, func(c [3]int) bool { return c[0] < 230 && c[2] >= c[0] })
}

// Without WebGL, or when the browser takes it away, the facts and the table of atoms remain, and it says so.
func TestModelWithoutWebGL(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.size(700, 600)
	l.file("pair.xyz", pair)
	l.isDrawn()
	l.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".stage canvas").getContext("webgl2").getExtension("WEBGL_lose_context").loseContext()`))
	l.sees("cannot draw in three dimensions", "by the distances of atoms")
	l.until(`document.querySelectorAll(".sheet-table tbody tr").length === 2`)
	l.press("Try again")
	l.colours("drawn again", 0.5, 0.5, isRed)
	const without = `{
		const original = HTMLCanvasElement.prototype.getContext;
		HTMLCanvasElement.prototype.getContext = function (kind, ...rest) { return kind === "webgl2" ? null : original.call(this, kind, ...rest) };
	}`
	params := page.AddScriptToEvaluateOnNewDocumentParams{Source: without}
	if _, err := chromedp.Call(l.ctx, page.AddScriptToEvaluateOnNewDocument, params); err != nil {
		t.Fatal(err)
	}
	l.file("other.xyz", pair)
	l.sees("cannot draw in three dimensions", "by the distances of atoms")
	l.until(`document.querySelectorAll(".sheet-table tbody tr").length === 2`)
	l.file("cube.stl", solidFile(t, "origin_inside.STL"))
	l.sees("cannot draw in three dimensions", "0.96875")
}
