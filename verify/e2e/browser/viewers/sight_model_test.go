package viewers

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/verify/e2e/browser"
)

// canvas is a screenshot and the position of the model's picture in it.
type canvas struct {
	image.Image
	box [4]float64 // left, top, width, height
}

// pictured takes a screenshot of the model.
func (l *viewer) pictured() canvas {
	l.T.Helper()
	box := browser.Get(l.Visitor, chromedp.Evaluate[[4]float64](`(() => {
		const canvas = document.querySelector(".stage canvas");
		canvas.scrollIntoView({ block: "center" });
		const { left, top, width, height } = canvas.getBoundingClientRect();
		return [left, top, width, height];
	})()`))
	l.Rendered()
	content, err := browser.Run(l.Visitor, chromedp.CaptureScreenshot())
	if err != nil {
		l.Fail(err)
	}
	picture, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		l.Fail(err)
	}
	return canvas{picture, box}
}

// at returns the colour at fractions of the width and the height of the picture.
func (c canvas) at(x, y float64) [3]int {
	r, g, b, _ := c.At(int(c.box[0]+x*c.box[2]), int(c.box[1]+y*c.box[3])).RGBA()
	return [3]int{int(r >> 8), int(g >> 8), int(b >> 8)}
}

func isRed(c [3]int) bool  { return c[0] > 70 && c[1] < c[0]/2 && c[2] < c[0]/2 }
func isBlue(c [3]int) bool { return c[2] > 120 && c[0] < c[2]*3/4 && c[1] < c[2]*3/4 }

// colours waits until the picture has a colour at a position.
func (l *viewer) colours(what string, x, y float64, is func([3]int) bool) {
	l.T.Helper()
	l.WaitFor(func() error {
		if found := l.pictured().at(x, y); !is(found) {
			return fmt.Errorf("%s: the colour at %v, %v is %v", what, x, y, found)
		}
		return nil
	})
}

// pair contains two atoms in a row along the view: oxygen in front of nitrogen.
const pair = "2\n\nO 0 0 3\nN 0 0 -3\n"

// A model is really drawn, and can be rotated, enlarged and reset with keys, with buttons and by
// dragging. The wheel scrolls the page until the picture has the focus. The model is drawn only
// after changes.
func TestModelRotation(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.Size(700, 600)
	l.file("pair.xyz", pair)
	l.isDrawn()
	sheet := browser.Get(l.Visitor, chromedp.Evaluate[string](`getComputedStyle(document.querySelector(".stage canvas")).backgroundColor`))
	isGround := func(c [3]int) bool { return fmt.Sprintf("rgb(%d, %d, %d)", c[0], c[1], c[2]) == sheet }
	l.colours("at first", 0.5, 0.5, isRed)
	l.colours("next to the model", 0.9, 0.5, isGround)
	l.Do(chromedp.Focus(chromedp.CSS(".stage canvas")))
	for range 18 {
		l.Do(chromedp.KeyEvent(kb.ArrowRight))
	}
	l.colours("from behind", 0.5, 0.5, isBlue)
	l.Do(chromedp.KeyEvent("0"))
	l.colours("put back", 0.5, 0.5, isRed)
	for range 9 {
		l.Do(chromedp.KeyEvent(kb.ArrowDown))
	}
	l.colours("from above", 0.5, 0.5, isGround)
	l.Do(chromedp.KeyEvent(kb.Home))
	l.colours("home", 0.5, 0.5, isRed)
	l.colours("small", 0.5, 0.65, isGround)
	for range 6 {
		l.Press("Larger")
	}
	l.colours("enlarged", 0.5, 0.65, isRed)
	l.Press("Reset")
	l.drag(".stage canvas", 0.2, 0.8)
	l.colours("dragged", 0.5, 0.5, isGround)

	l.Press("Reset")
	l.colours("put back", 0.5, 0.5, isRed)
	l.Do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur(), scrollTo(0, 0)`))
	wheel := func() {
		t.Helper()
		// chromedp omits a distance of zero, which Chromium requires.
		params := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, X: 350, Y: 450, DeltaX: 0.001, DeltaY: -100}
		if _, err := chromedp.Call(l.Context, input.DispatchMouseEvent, params); err != nil {
			t.Fatal(err)
		}
	}
	drawn := func() int {
		return browser.Get(l.Visitor, chromedp.Evaluate[int](`Number(document.querySelector(".stage canvas").dataset.drawn)`))
	}
	l.isDrawn()
	before := drawn()
	wheel()
	for range 30 {
		l.Rendered()
	}
	if after := drawn(); after != before {
		t.Errorf("the model was drawn %d times without a change", after-before)
	}
	l.Do(chromedp.Focus(chromedp.CSS(".stage canvas")))
	for range 5 {
		wheel()
	}
	l.colours("enlarged by the wheel", 0.5, 0.62, isRed)
	l.Press("Reset")
	l.colours("put back", 0.5, 0.62, isGround)
	l.pinches(30, 120)
	l.colours("enlarged by two fingers", 0.5, 0.62, isRed)
}

// pinches moves two fingers apart. from and to are their distances from the middle of the picture,
// in pixels.
func (l *viewer) pinches(from, to float64) {
	l.T.Helper()
	box := l.pictured().box
	fingers := func(apart float64) []*input.TouchPoint {
		x, y := box[0]+box[2]/2, box[1]+box[3]/2
		first, second := 1.0, 2.0
		return []*input.TouchPoint{{X: x - apart, Y: y, ID: &first}, {X: x + apart, Y: y, ID: &second}}
	}
	for _, step := range []input.DispatchTouchEventParams{
		{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: fingers(from)},
		{Type: input.DispatchTouchEventTypeTouchMove, TouchPoints: fingers((from + to) / 2)},
		{Type: input.DispatchTouchEventTypeTouchMove, TouchPoints: fingers(to)},
		{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}},
	} {
		if _, err := chromedp.Call(l.Context, input.DispatchTouchEvent, step); err != nil {
			l.T.Fatal(err)
		}
	}
}

// Styles, the colours of a file and the theme affect the picture. The picture can be saved.
func TestModelStyles(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.Size(700, 600)
	l.file("pair.xyz", pair)
	l.isDrawn()
	l.Choose("Style", "space-filling")
	l.colours("with the radius of van der Waals", 0.5, 0.6, isRed)
	l.Theme("dark")
	l.colours("in the dark", 0.95, 0.05, func(c [3]int) bool { return c[0] < 60 && c[1] < 60 && c[2] < 60 })
	folder := l.Downloads()
	l.Press("Save as PNG")
	l.WaitFor(func() error {
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
	l.Theme("light")

	square := "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n" +
		"element face 1\nproperty list uchar int vertex_index\nend_header\n-1 -1 0 0 0 255\n1 -1 0 0 0 255\n1 1 0 0 0 255\n-1 1 0 0 0 255\n4 0 1 2 3\n"
	l.file("blue.ply", square)
	l.isDrawn()
	l.colours("with the colours of the file", 0.5, 0.5, isBlue)
	l.Choose("Style", "wireframe")
	l.colours("as wires", 0.47, 0.5, func(c [3]int) bool { return !isBlue(c) })
	l.file("cube.stl", solidFile(t, "origin_inside.STL"))
	l.isDrawn()
	l.colours("a surface without colours", 0.5, 0.45, func(c [3]int) bool { return c[0] < 230 && c[2] >= c[0] })
}

// Without WebGL, or when the browser withdraws it, the page shows a message, and still shows the
// facts and the table of atoms.
func TestModelWithoutWebGL(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.Size(700, 600)
	l.file("pair.xyz", pair)
	l.isDrawn()
	l.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".stage canvas").getContext("webgl2").getExtension("WEBGL_lose_context").loseContext()`))
	l.Sees("cannot draw in three dimensions", "by the distances of atoms")
	l.Until(`document.querySelectorAll(".sheet-table tbody tr").length === 2`)
	l.Press("Try again")
	l.colours("drawn again", 0.5, 0.5, isRed)
	const without = `{
		const original = HTMLCanvasElement.prototype.getContext;
		HTMLCanvasElement.prototype.getContext = function (kind, ...rest) { return kind === "webgl2" ? null : original.call(this, kind, ...rest) };
	}`
	l.BeforeScripts(without)
	l.file("other.xyz", pair)
	l.Sees("cannot draw in three dimensions", "by the distances of atoms")
	l.Until(`document.querySelectorAll(".sheet-table tbody tr").length === 2`)
	l.file("cube.stl", solidFile(t, "origin_inside.STL"))
	l.Sees("cannot draw in three dimensions", "0.96875")
}
