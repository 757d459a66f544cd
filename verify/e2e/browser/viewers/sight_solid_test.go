package viewers

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// solid is the result of a reference reader for a file of testdata/solid.
type solid struct {
	Facts     map[string]any
	Formula   map[string]int
	Frames    int
	Cell      []float64
	Unordered bool
	Rows      map[string][][]any // the first atoms of a model, by its number: element, x, y, z
}

// solidFile returns a file by another project.
func solidFile(t *testing.T, name string) string {
	t.Helper()
	return browser.TestFile(t, "solid", name)
}

// isSurface reports whether the decoder for surfaces reads a file, and not the decoder for
// molecules.
func isSurface(name string) bool {
	return slices.Contains([]string{".stl", ".ply", ".obj"}, strings.ToLower(filepath.Ext(name)))
}

// isDrawn waits until a model is drawn at full resolution.
func (l *viewer) isDrawn() {
	l.T.Helper()
	l.Until(`document.querySelector("[data-sight] canvas[data-drawn]")?.width >= 2 * document.querySelector("[data-sight] canvas").clientWidth - 1`)
	l.Rendered()
}

// facts returns the names and values shown next to a model.
func (l *viewer) facts() map[string]string {
	l.T.Helper()
	return browser.Get(l.Visitor, chromedp.Evaluate[map[string]string](`Object.fromEntries([...document.querySelectorAll(".attributes tr")].map((r) => [...r.children].map((c) => c.textContent)))`))
}

var numbers = regexp.MustCompile(`-?[0-9.]+(e[-+]?[0-9]+)?`)

// sameNumber reports whether two numbers are equal, except for digits that are not shown.
func sameNumber(a, b float64) bool { return math.Abs(a-b) <= 1e-5*math.Max(1e-3, math.Abs(b)) }

// says compares a fact with the result of the reference reader.
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

// formula returns the number of atoms of each element in a text such as "C2 H6 O".
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

// atoms returns the table of atoms, with an element and a position each.
func (l *viewer) atoms() [][]any {
	l.T.Helper()
	return browser.Get(l.Visitor, chromedp.Evaluate[[][]any](`(() => {
		const names = [...document.querySelectorAll(".sheet-table thead th")].map((h) => h.textContent.trim());
		const at = ["element", "x", "y", "z"].map((n) => names.indexOf(n));
		return [...document.querySelectorAll(".sheet-table tbody tr")].map((r) => at.map((n, i) => (i ? Number(r.children[n].textContent) : r.children[n].textContent)));
	})()`))
}

// isAtom reports whether two rows describe the same atom at the same position.
func isAtom(shown, want []any) bool {
	for i := 1; i < 4; i++ {
		if math.Abs(shown[i].(float64)-want[i].(float64)) > 2e-3 {
			return false
		}
	}
	return strings.EqualFold(shown[0].(string), want[0].(string))
}

// hasAtoms compares the table of atoms with the result of the reference reader, in its order or in
// any order.
func (l *viewer) hasAtoms(name, frame string, want [][]any, unordered bool) {
	l.T.Helper()
	l.WaitFor(func() error {
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

// TestSightOfModels tests sample files of other projects. Their pages must show what the reference
// reader of each format returns: counts, measures, and the position of each atom.
func TestSightOfModels(t *testing.T) {
	t.Parallel()
	var files map[string]solid
	if err := json.Unmarshal([]byte(solidFile(t, "expected.json")), &files); err != nil {
		t.Fatal(err)
	}
	l := openViewer(t)
	l.Size(600, 500) // a small picture
	for name, want := range files {
		t.Log(name)
		r := l.put(name, solidFile(t, name))
		if isSurface(name) || slices.Contains([]string{"4hhh_frag.pdb", "made-steps.xyz", "reference.ply", "doravirine.mol"}, name) {
			l.GoTo("/resources/" + r.ID)
			l.isDrawn()
			l.Shots("solid-" + name)
			l.Size(600, 500)
		}
		if isSurface(name) {
			l.sights("mesh")
			l.hasFacts(name, want)
			continue
		}
		for _, frame := range slices.Sorted(maps.Keys(want.Rows)) {
			l.GoTo("/resources/" + r.ID + "?view=atoms&frame=" + frame)
			l.sights("molecule")
			if frame != "1" {
				l.Sees(fmt.Sprintf("%s of %d", frame, want.Frames))
			}
			l.hasAtoms(name, frame, want.Rows[frame], want.Unordered)
			if frame == "1" {
				l.hasFacts(name, want)
			}
		}
	}
}

// hasFacts compares the facts next to a model with the results of the reference reader.
func (l *viewer) hasFacts(name string, want solid) {
	l.T.Helper()
	facts := l.facts()
	for fact, value := range want.Facts {
		if !says(facts[fact], value) {
			l.T.Errorf("%s: %s is %q; want %v", name, fact, facts[fact], value)
		}
	}
	if got := formula(facts["formula"]); want.Formula != nil && !maps.Equal(got, want.Formula) {
		l.T.Errorf("%s: the elements are %v; want %v", name, got, want.Formula)
	}
	cell := numbers.FindAllString(facts["cell"], -1)
	if want.Cell != nil && len(cell) != 6 {
		l.T.Errorf("%s: the cell is %q; want %v", name, facts["cell"], want.Cell)
	}
	for i, found := range cell {
		if n, err := strconv.ParseFloat(found, 64); want.Cell != nil && (err != nil || !sameNumber(n, want.Cell[i])) {
			l.T.Errorf("%s: the cell is %s; want %v", name, facts["cell"], want.Cell)
		}
	}
}
