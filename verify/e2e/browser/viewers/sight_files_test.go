package viewers

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// known is the result of a reference reader for a file.
type known struct {
	Arrays   map[string][][]string
	Pictures []struct{ Limits, SHA256 string }
}

// sightFile returns a file by another project.
func sightFile(t *testing.T, name string) string {
	t.Helper()
	return browser.TestFile(t, "sight", name)
}

// sightFiles returns the results of the reference readers for the files of testdata/sight, and the
// sorted names of the files.
func sightFiles(t *testing.T) (all map[string]known, names []string) {
	t.Helper()
	if err := json.Unmarshal([]byte(sightFile(t, "expected.json")), &all); err != nil {
		t.Fatal(err)
	}
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return all, names
}

// decoderOf returns the decoder of a file.
func decoderOf(name string) string {
	if strings.Contains(name, "hdf5") || name == "made-cf.nc" {
		return "hdf5"
	}
	return map[string]string{".npy": "npy", ".fits": "fits", ".nc": "netcdf", ".h5": "hdf5", ".mat": "mat", ".tif": "tiff"}[filepath.Ext(name)]
}

// sameCell reports whether two texts are equal. Numbers may differ in digits beyond the precision
// of their type.
func sameCell(shown, want string) bool {
	if strings.TrimSpace(shown) == strings.TrimSpace(want) {
		return true
	}
	a, errA := strconv.ParseFloat(shown, 64)
	b, errB := strconv.ParseFloat(want, 64)
	return errA == nil && errB == nil && (a == b || math.Abs(a-b) <= 1e-6*math.Abs(b) || math.IsNaN(a) && math.IsNaN(b))
}

// Files by other projects show the values that the reference reader of their format finds.
func TestSightOfFiles(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	files, names := sightFiles(t)
	for _, name := range names {
		t.Log(name)
		l.file(name, sightFile(t, name))
		l.sights(decoderOf(name))
		for array, want := range files[name].Arrays {
			l.showsArray(array, want)
		}
		for i, want := range files[name].Pictures {
			if i > 0 {
				l.Press("Next")
			}
			l.showsPicture(want.Limits, want.SHA256)
		}
		if slices.Contains([]string{"arange.fits", "compound-dtype-complex.h5", "bivariate_normal.npy", "teststruct_7.4_GLNX86.mat", "16bit.MM.deflate.tif", "multipage.tif", "pil168.tif"}, name) {
			l.Shots("sight-" + name)
		}
	}
}

// A picture whose columns are downsampled more than its rows keeps its aspect ratio. The pointer
// shows the rows and columns of the array.
func TestSightOfWideArray(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	const rows, columns = 500, 8192
	l.file("wide.npy", npy(fmt.Sprintf("{'descr': '|i1', 'fortran_order': False, 'shape': (%d, %d)}", rows, columns))+strings.Repeat("\x00", rows*columns))
	l.Until(`document.querySelector(".pointed")?.textContent.startsWith("Only one column in 4 is shown.")`)
	l.Until(`(() => {
		const canvas = document.querySelector(".picture canvas");
		const { left, top, width, height } = canvas.getBoundingClientRect();
		canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: left + width / 2 + 0.1, clientY: top + height / 2 + 0.1 }));
		return Math.abs(width / height - 8192 / 500) < 0.5 && /^row 25\d, column 4\d\d\d: 0$/.test(document.querySelector(".pointed").textContent);
	})()`)
}

// showsArray selects an array of a tree, and compares its table with want.
func (l *viewer) showsArray(array string, want [][]string) {
	l.T.Helper()
	l.Until(fmt.Sprintf(`document.querySelector(".side h2")?.textContent === %[1]q || [...document.querySelectorAll(".items button")].find((b) => b.textContent === %[1]q)?.click()`, array))
	l.Until(`((button) => button.getAttribute("aria-pressed") === "true" || button.click())([...document.querySelectorAll(".side .view-switch button")].find((b) => b.textContent === "Table"))`)
	l.WaitFor(func() error {
		shown := browser.Get(l.Visitor, chromedp.Evaluate[[][]string](`[...document.querySelectorAll(".sheet-table tbody tr")].map((r) => [...r.querySelectorAll("td")].map((c) => c.textContent))`))
		if len(shown) < len(want) {
			return fmt.Errorf("%s has %d rows; want %d", array, len(shown), len(want))
		}
		for i, row := range want {
			for j, cell := range row {
				if j >= len(shown[i]) || !sameCell(shown[i][j], cell) {
					return fmt.Errorf("row %d of %s is %q; want %q", i, array, shown[i], row)
				}
			}
		}
		return nil
	})
}

// showsPicture selects greys from the lowest to the highest value, and compares the picture with
// the digest.
func (l *viewer) showsPicture(limits, digest string) {
	l.T.Helper()
	l.WaitFor(func() error {
		shown := browser.Get(l.Visitor, chromedp.Evaluate[string](`(async () => {
			const canvas = document.querySelector(".picture canvas");
			if (!canvas) return "nothing";
			const choice = document.querySelector(".contrast select");
			if (choice.value !== "lowest to highest") {
				choice.value = "lowest to highest";
				choice.dispatchEvent(new Event("change", { bubbles: true }));
				return "another contrast";
			}
			const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
			const sum = await crypto.subtle.digest("SHA-256", data.filter((_, i) => i % 4 === 0));
			return canvas.dataset.limits + " " + Array.from(new Uint8Array(sum), (b) => b.toString(16).padStart(2, "0")).join("");
		})()`, chromedp.EvalAwaitPromise))
		if want := limits + " " + digest; shown != want {
			return fmt.Errorf("the picture is %s; want %s", shown, want)
		}
		return nil
	})
}
