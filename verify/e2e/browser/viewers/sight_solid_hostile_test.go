package viewers

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"labshelf/verify/e2e/browser"
)

// stlOf returns a binary STL that declares count triangles, but contains one.
func stlOf(count uint32, x float32) string {
	b := binary.LittleEndian.AppendUint32(make([]byte, 80), count)
	for i := range 12 {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x*float32(i%5)))
	}
	return string(append(b, 0, 0))
}

// plyOf returns a PLY in text format with these points and faces.
func plyOf(vertices, faces, body string) string {
	return "ply\nformat ascii 1.0\ncomment " + strings.ReplaceAll(browser.Payloads[0], "\n", " ") + "\nelement vertex " + vertices +
		"\nproperty float x\nproperty float y\nproperty float z\nelement face " + faces + "\nproperty list uchar int vertex_indices\nend_header\n" + body
}

// atomOf returns a line of a PDB file.
func atomOf(serial int, x, y, z string) string {
	return fmt.Sprintf("HETATM%5d  C   LIG A%4d    %8s%8s%8s  1.00  0.00           C\n", serial%100000, serial%10000, x, y, z)
}

// heap returns a PDB file with all atoms within a few Å.
func heap(atoms int) string {
	var b strings.Builder
	for i := range atoms {
		b.WriteString(atomOf(i, fmt.Sprintf("%.3f", float64(i%7)/4), fmt.Sprintf("%.3f", float64(i%11)/5), fmt.Sprintf("%.3f", float64(i%13)/6)))
	}
	return b.String()
}

// hostileSolids returns broken and hostile files of each format, and the message for each.
func hostileSolids() []struct{ name, content, says string } {
	all := strings.ReplaceAll(strings.Join(browser.Payloads, " "), "\n", " ")
	molecule := func(counts string) string {
		return "\n\n\n" + counts + "  0  0  0  0  0  0  0  0999 V2000\n    0.0000    0.0000    0.0000 C   0  0\n  1  9  1  0\nM  END\n"
	}
	square := "0 0 0\n1 0 0\n1 1 0\n"
	return []struct{ name, content, says string }{
		{"many.stl", stlOf(4_000_000_000, 1), "ends before all 4000000000 triangles"},
		{"nan.stl", stlOf(1, float32(math.NaN())), "coordinates cannot be drawn"},
		{"far.stl", stlOf(1, 1e37), "coordinates cannot be drawn"},
		{"empty.stl", "solid " + all + "\nendsolid\n", "no triangles"},
		{"title.stl", "solid " + all + "\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n", "0.5"},
		{"words.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 zero\n", "Expected a number"},
		{"many.ply", plyOf("1000000000000000", "0", square), "more than 4,000,000 points"},
		{"faces.ply", plyOf("3", "4000000000", square), "more than 2,000,000 triangles"},
		{"index.ply", plyOf("3", "1", square+"3 0 1 7\n"), "the point 7, which does not exist"},
		{"cut.ply", plyOf("4", "0", square), "ends where a number is expected"},
		{"comment.ply", plyOf("3", "1", square+"3 0 1 2\n"), "vertices"},
		{"type.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty constructor x\nend_header\n1\n", "is not known"},
		{"index.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -9\n", "the point -9, which does not exist"},
		{"group.obj", "o " + all + "\nmtllib http://198.51.100.1/a.mtl\nusemtl x\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "in another file and are not shown"},
		{"object.obj", "L\x01\x02\x00\x00\x00\x00\x00", "no points"},
		{"title.pdb", "TITLE     " + all + "\n" + atomOf(1, "0.0", "0.0", "0.0"), "by the distances"},
		{"heap.pdb", heap(9_000), "Bonds are left out"},
		{"empty.pdb", "REMARK nothing\n", "no line starts with ATOM"},
		{"nowhere.pdb", atomOf(1, "x", "y", "z") + atomOf(2, "1e300", "0", "0") + atomOf(3, "0", "0", "0"), "without a position are left out"},
		{"names.cif", "data_x\n_struct.title\n;" + all + "\n;\nloop_\n_atom_site.type_symbol\n_atom_site.label_asym_id\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\nC '<script>' 0 0 0\n", "mmCIF"},
		{"group.cif", "data_x\n_cell_length_a 5\n_cell_length_b 5\n_cell_length_c 5\n_cell_angle_alpha 90\n_cell_angle_beta 90\n_cell_angle_gamma 90\n_symmetry_space_group_name_H-M 'F m -3 m'\n" +
			"loop_\n_atom_site_label\n_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_z\nC1 0 0 0\n", "lists no symmetry operations"},
		{"cell.cif", "data_x\nloop_\n_atom_site_label\n_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_z\nC1 0 0 0\n", "it does not define the cell"},
		{"loop.cif", "data_x\nloop_\nloop_\nloop_ 1 2 3\n;never ends", "It has no atoms"},
		{"quote.cif", "data_x\n_cell_length_a 'never ends", "It has no atoms"},
		{"many.xyz", "999999999\n\nC 0 0 0\n", "ends before all 999999999 atoms"},
		{"cloud.xyz", "0.1 0.2 0.3\n", "not a number of atoms"},
		{"short.xyz", "1\nname=\"" + all + "\"\nC 0 0\n", "has no coordinates"},
		{"bond.mol", molecule("  1  1"), "an atom that does not exist"},
		{"counts.mol", molecule("999999"), "ends before all 999 atoms"},
		{"names.sdf", molecule("  1  0") + "> <" + all + ">\n" + all + "\n\n$$$$\n", "as in the file"},
		{"cut.sdf", solidFileCut, "ends before all 34 atoms"},
	}
}

const solidFileCut = "x\n y\n\n 34 37  0  0  0  0  0  0  0  0  1 V2000\n    0.0000    0.0000    0.0000 C   0  0\n"

// A broken or hostile model shows an error with the text or the bytes of the file. It runs no
// script and sends no request.
func TestSightOfHostileModels(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.Size(600, 500)
	for _, c := range hostileSolids() {
		t.Log(c.name)
		r := l.put(c.name, c.content)
		l.GoTo("/resources/" + r.ID + map[bool]string{true: "?view=atoms"}[c.name == "heap.pdb"]) // drawing its picture would take long
		l.Until(`document.querySelector(".preview .hex, .preview .lines, .preview [data-sight]")`)
		l.Sees(c.says, "For programs")
		l.Until(`document.querySelector(".preview :is(script, iframe, style, [onerror], [onload], [srcdoc], a[href^=javascript])") === null`)
		if browser.Get(l.Visitor, chromedp.Evaluate[bool](`"__hacked" in window`)) {
			t.Errorf("a script in %s ran", c.name)
		}
	}
}

// Models are accessible in both themes, work with the keyboard only, and fit into a narrow window.
func TestModelIsAccessible(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	script := browser.Axe(t)
	for _, name := range []string{"4hhh_frag.pdb", "made-steps.xyz", "reference.ply"} {
		l.file(name, solidFile(t, name))
		l.isDrawn()
		l.Theme("light")
		found := l.Audit(script)
		l.Theme("dark")
		found = append(found, l.Audit(script, "color-contrast")...)
		for _, f := range found {
			t.Errorf("%s: %s: %s: %s\n\t%s", name, f.Impact, f.ID, f.Help, f.Where)
		}
		l.Size(360, 740)
		if overflow := browser.Get(l.Visitor, chromedp.Evaluate[float64](`document.documentElement.scrollWidth - innerWidth`)); overflow > 0 {
			t.Errorf("%s is %v px too wide for a narrow window", name, overflow)
		}
		l.Size(1280, 800)
		l.isDrawn()
		l.Shots("solid-" + name)
	}
	// With the keyboard only: to the slider, to the picture, to the style.
	l.file("made-steps.xyz", solidFile(t, "made-steps.xyz"))
	l.isDrawn()
	l.TabTo(`e.matches("input[type=range]")`)
	l.Do(chromedp.KeyEvent(kb.ArrowRight))
	l.Sees("2 of 5")
	for range 3 { // faster than models are read: only the last one is shown
		l.Do(chromedp.KeyEvent(kb.ArrowRight))
	}
	l.Sees("5 of 5", "6.04 0.0 0.0")
	l.TabTo(`e.matches(".stage canvas")`)
	l.Until(`getComputedStyle(document.activeElement).outlineStyle === "solid"`)
	before := browser.Get(l.Visitor, chromedp.Evaluate[int](`Number(document.querySelector(".stage canvas").dataset.drawn)`))
	l.Do(chromedp.KeyEvent(kb.ArrowLeft))
	l.Until(fmt.Sprintf(`Number(document.querySelector(".stage canvas").dataset.drawn) > %d`, before))
	l.Do(chromedp.KeyEvent("?")) // a key of the page, and not of the picture
	l.Until(`document.querySelector("dialog[open] h2")?.innerText === "Keyboard"`)
}
