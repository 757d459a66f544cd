package viewers

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// picks selects an array of a tree.
func (l *viewer) picks(array string) {
	l.T.Helper()
	l.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void [...document.querySelectorAll(".items button")].find((b) => b.textContent === %q).click()`, array)))
}

// points moves the pointer to the middle of a pixel, counted from the top left corner of a picture,
// and returns the text for it.
func (l *viewer) points(row, column, rows, columns int) string {
	l.T.Helper()
	return browser.Get(l.Visitor, chromedp.Evaluate[string](fmt.Sprintf(`(async () => {
		const canvas = document.querySelector(".picture canvas");
		if (!canvas) return "nothing";
		const { left, top, width, height } = canvas.getBoundingClientRect();
		canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: left + width * (%d + 0.5) / %d, clientY: top + height * (%d + 0.5) / %d }));
		await new Promise(requestAnimationFrame);
		const said = document.querySelector(".pointed").textContent;
		canvas.dispatchEvent(new PointerEvent("pointerleave"));
		return said;
	})()`, column, columns, row, rows), chromedp.EvalAwaitPromise))
}

// stored switches between meant values and stored values.
func (l *viewer) stored() {
	l.T.Helper()
	browser.Click(l.Visitor, chromedp.Search(`//label[normalize-space()="As stored"]/input`))
}

// Variables packed by the CF conventions show their meant values with unit, coordinates and dates,
// in the picture, line, table and CSV, for both NetCDF formats. The option "As stored" shows the
// values in the file.
func TestSightOfPackedVariables(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	folder := l.Downloads()
	for _, name := range []string{"made-cf.nc", "made-cf-classic.nc"} {
		r := l.file(name, sightFile(t, name))
		l.Until(`document.querySelector(".side h2")?.textContent === "height"`)
		l.Sees("height of clouds · unit: m")
		l.Sees("uint16 instead of int16; stored value × 0.25 − 100; 65535 is missing; valid from 0 to 65530")
		l.Sees("of 4: 2000-01-01")
		l.Sees("row 0 is at the bottom")
		l.WaitFor(func() error {
			if got, want := l.points(4, 3, 5, 6), "row 0, column 3 (lat -10 degrees_north, lon 8 degrees_east): 8502.25 m"; got != want {
				return fmt.Errorf("the text at the pointer is %q; want %q", got, want)
			}
			return nil
		})
		if got, want := l.points(4, 0, 5, 6), "row 0, column 0 (lat -10 degrees_north, lon 5 degrees_east): missing"; got != want {
			t.Errorf("the text at the pointer is %q; want %q", got, want)
		}
		l.Shots("packed-" + name)
		l.stored()
		l.Until(`document.querySelector(".pointed").textContent.startsWith("Values are from -31,127 to -1.")`)
		l.At("/resources/" + r.ID + "?view=line&slice=1.2.0")
		l.Until(`document.querySelector(".chart")?.getAttribute("aria-label") === "height (m) by lon (degrees_east)"`)
		l.Press("CSV")
		first := strings.SplitN(l.saved(folder, name[:len(name)-3]+"-height.csv"), "\n", 3)[:2]
		if want := []string{"lon (degrees_east),height (m)", "5,13835.5"}; !slices.Equal(first, want) {
			t.Errorf("the CSV begins with %q, want %q", first, want)
		}
		l.At("/resources/" + r.ID + "?view=table")
		l.Until(`document.querySelector(".sheet-table thead").textContent.includes("lat (degrees_north)5678910") && document.querySelector(".sheet-table tbody th").textContent === "-10"`)
	}
	l.picks("offset")
	l.Until(`document.querySelector(".chart")?.getAttribute("aria-label") === "offset (K) by lat (degrees_north)"`)
}

// The default array of a NeXus file is shown first, with its unit and the coordinates that its
// group declares.
func TestSightOfNeXus(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.file("made-nexus.h5", sightFile(t, "made-nexus.h5"))
	l.Until(`document.querySelector(".side h2")?.textContent === "intensity"`)
	l.Sees("scattered light · unit: counts")
	l.WaitFor(func() error {
		if got, want := l.points(2, 1, 4, 5), "row 2, column 1 (angle 1.5 deg): 33 counts"; got != want {
			return fmt.Errorf("the text at the pointer is %q; want %q", got, want)
		}
		return nil
	})
	l.Shots("nexus")
}

// npyOf returns a NumPy array of little-endian values.
func npyOf(kind string, values any, shape ...int) string {
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]")
	data, err := binary.Append(nil, binary.LittleEndian, values)
	if err != nil {
		panic(err)
	}
	header := fmt.Sprintf("{'descr': '<%s', 'fortran_order': False, 'shape': (%s,)}", kind, text)
	return npyHead(header+strings.Repeat(" ", 117-len(header))+"\n") + string(data)
}

// A hot pixel, the mask values of a detector, or a background of zeros do not hide the rest of a
// picture. An option shows the whole range.
func TestSightOfHotPixels(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	const side = 128
	frame := func(hot uint32, holes int) []uint32 {
		values := make([]uint32, side*side)
		for i := range values {
			values[i] = uint32(100 + i%101)
		}
		for i := range holes {
			values[i] = math.MaxUint32
		}
		values[side*side/2] = hot
		return values
	}
	sparse := make([]uint32, side*side)
	for i := range 20 {
		sparse[i*700+50] = uint32(1 + i%4)
	}
	sparse[5] = 900_000_000
	for _, c := range []struct {
		name   string
		values []uint32
		low    float64
		high   float64
	}{
		{"hot.npy", frame(4_000_000_000, 0), 100, 200},
		{"masked.npy", frame(4_000_000_000, 2000), 100, 200},
		{"sparse.npy", sparse, 0, 4},
	} {
		l.file(c.name, npyOf("u4", c.values, side, side))
		l.Until(`document.querySelector(".picture canvas")?.dataset.limits`)
		limits := browser.Get(l.Visitor, chromedp.Evaluate[[]float64](`document.querySelector(".picture canvas").dataset.limits.split(" ").map(Number)`))
		if limits[0] != c.low || limits[1] != c.high {
			t.Errorf("%s: the contrast is %v, want %v to %v", c.name, limits, c.low, c.high)
		}
		l.Choose("Contrast", "lowest to highest")
		l.Until(fmt.Sprintf(`Number(document.querySelector(".picture canvas").dataset.limits.split(" ")[1]) === %d`, slices.Max(c.values)))
	}
}

// An array with a few long rows, or a few long columns, opens as lines.
func TestSightOfLongArrays(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	values := make([]float32, 1_000_000)
	for i := range values {
		values[i] = float32(math.Sin(float64(i) / 5000))
	}
	for _, c := range []struct {
		name  string
		shape []int
		lines int
		along string
	}{
		{"rows.npy", []int{10, 100_000}, 6, "dimension 2"},
		{"columns.npy", []int{100_000, 10}, 6, "dimension 1"},
		{"pairs.npy", []int{500_000, 2}, 2, "dimension 1"},
		{"stack.npy", []int{5, 2, 100_000}, 2, "dimension 3"},
	} {
		l.file(c.name, npyOf("f4", values, c.shape...))
		l.Until(fmt.Sprintf(`((chart) => chart && chart.endsWith(" by %s") && chart.split(", ").length === %d)(document.querySelector(".chart")?.getAttribute("aria-label"))`, c.along, c.lines))
		l.Shots("long-" + c.name)
	}
	l.file("row.npy", npyOf("f4", values[:100_000], 1, 100_000))
	l.Until(`document.querySelector(".chart")?.getAttribute("aria-label") === "array by dimension 2"`)
	l.file("frame.npy", npyOf("f4", values, 1000, 1000))
	l.Until(`document.querySelector(".picture canvas")`)
	l.file("channel.npy", npyOf("f4", values[:500_000], 500, 1000, 1))
	l.Until(`document.querySelector(".picture canvas")`)
	l.Sees("500 rows, 1,000 columns")
}

// A picture whose tags describe the meaning of its values shows these values, and an option shows
// the stored values.
func TestSightOfScaledPicture(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.file("made-gdal.tif", sightFile(t, "made-gdal.tif"))
	l.Sees("stored value × 0.5 − 10; 65535 is missing")
	l.Sees("Values are from -10 to 140 m.")
	if got, want := l.points(1, 1, 2, 3), "row 1, column 1: missing"; got != want {
		t.Errorf("the text at the pointer is %q, want %q", got, want)
	}
	l.stored()
	l.Sees("Values are from 0 to 65,535.")
}

// A picture without numbers shows a message.
func TestSightOfEmptyPicture(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	values := make([]float64, 100)
	for i := range values {
		values[i] = math.NaN()
	}
	l.file("empty.npy", npyOf("f8", values, 10, 10))
	l.Sees("No values in this part.")
}

// The fields for the limits of the contrast accept a decimal comma.
func TestContrastTakesADecimalComma(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.file("made-tiles.fits", browser.TestFile(t, "sight", "made-tiles.fits"))
	l.Until(`document.querySelectorAll(".contrast input").length === 2`)
	l.Do(chromedp.Evaluate[chromedp.Void](`void ((field) => {
		field.value = "-37,5";
		for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
	})(document.querySelector(".contrast input"))`))
	l.Until(`document.querySelector(".contrast input").value === "-37.5" && document.querySelector(".contrast select").value === "own"`)
}
