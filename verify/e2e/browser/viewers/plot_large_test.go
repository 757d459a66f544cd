package viewers

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// peaked returns a table of about size bytes with some narrow peaks, its rows, and their offsets.
func peaked(size int) (string, [][2]float64, []int) {
	var b bytes.Buffer
	b.Grow(size + 64)
	b.WriteString("t,signal,of a device µ\n")
	var rows [][2]float64
	var at []int
	for n := 1; b.Len() < size; n++ {
		y := math.Round(1000*math.Sin(float64(n)/90_000)) / 8
		switch n % 1_000_003 {
		case 700_001:
			y = 5000 + float64(n%97)
		case 700_003:
			y = -4000
		}
		at = append(at, b.Len())
		rows = append(rows, [2]float64{float64(n) / 4, y})
		fmt.Fprintf(&b, "%.2f,%.3f,%d\n", float64(n)/4, y, n%50-25)
	}
	return b.String(), rows, at
}

// thinnedRows divides a file of size bytes into parts, and returns the rows with the minimum and
// the maximum of each part.
func thinnedRows(rows [][2]float64, at []int, size, parts int) (points [][2]float64) {
	for i := 0; i < len(rows); {
		part := at[i] * parts / size
		low, high := i, i
		for ; i < len(rows) && at[i]*parts/size == part; i++ {
			if rows[i][1] < rows[low][1] {
				low = i
			}
			if rows[i][1] > rows[high][1] {
				high = i
			}
		}
		if low <= high {
			points = append(points, rows[low], rows[high])
		} else {
			points = append(points, rows[high], rows[low])
		}
	}
	return points
}

// A table that is larger than its loaded part is downsampled as a whole. No peak is lost, the fit
// uses all rows, and zooming reads the visible part again.
func TestPlotOfLargeTable(t *testing.T) {
	t.Parallel()
	size := 66_000_000
	if text := os.Getenv("PLOT_BYTES"); text != "" {
		var err error
		if size, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	content, rows, at := peaked(size)
	l := openViewer(t)
	folder := l.Downloads()
	r := l.put("long.csv", content)
	began := time.Now()
	l.At("/resources/" + r.ID)
	l.shows("table", ".cells [role=cell]")
	t.Logf("showing the first rows of %d bytes took %v", len(content), time.Since(began))
	l.Press("Plot")
	began = time.Now()
	browser.Click(l.Visitor, chromedp.Search(`//button[starts-with(normalize-space(), "Plot all")]`))
	l.Until(`location.search.includes("whole=1") && document.querySelector(".plot progress, .plot .hint")`)
	l.Sees(fmt.Sprintf("The %s rows in view are drawn as the minimum and maximum of 2,000 bins", thousands(len(rows))))
	l.Until(`!document.querySelector(".plot progress")`)
	t.Logf("loading the whole curve took %v", time.Since(began))
	l.Shots("large-whole")
	l.Press("CSV")
	all, err := csv.NewReader(strings.NewReader(l.saved(folder, "long-plot.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := thinnedRows(rows, at, len(content), 2000)
	if len(all)-1 != len(want) {
		t.Fatalf("the curve has %d points, want %d", len(all)-1, len(want))
	}
	for i, p := range want {
		if !near(all[i+1][0], p[0], 0) || !near(all[i+1][1], p[1], 0) {
			t.Fatalf("point %d of the curve is %v, want %v", i, all[i+1], p)
		}
	}
	figures := func(rows [][2]float64) {
		t.Helper()
		least, most, mean := math.Inf(1), math.Inf(-1), 0.0
		for i, row := range rows {
			least, most = min(least, row[1]), max(most, row[1])
			mean += (row[1] - mean) / float64(i+1)
		}
		l.WaitFor(func() error {
			got := browser.Get(l.Visitor, chromedp.Evaluate[[]string](`((r) => [r.querySelector("td").textContent, ...[...r.querySelectorAll("data")].map((d) => d.value)])(document.querySelector(".values tbody tr"))`))
			if got[0] != thousands(len(rows)) || !near(got[1], least, 0) || !near(got[2], mean, 1e-6) || !near(got[3], most, 0) {
				return fmt.Errorf("the page shows %q for %d rows from %v to %v, mean %v", got, len(rows), least, most, mean)
			}
			return nil
		})
	}
	figures(rows)

	// A part of the table: all of its rows are loaded, including the peak, and the fit uses these
	// rows.
	from, to := 174_950.0, 175_050.0
	l.At(fmt.Sprintf("/resources/%s?view=plot&whole=1&fit=line&from=%v&to=%v", r.ID, from, to))
	part := rows[int(from*4)-1 : int(to*4)]
	l.Until(fmt.Sprintf(`document.querySelector(".fits tbody td:last-child")?.textContent === %q && !document.querySelector(".plot progress")`, thousands(len(part))))
	figures(part)
	l.Until(`Number(document.querySelector(".chart").dataset.points) > 300`)
	slope := browser.Get(l.Visitor, chromedp.Evaluate[string](`document.querySelector(".fits td data").value`))
	if b := slopeOf(part); !near(slope, b, 1e-9) {
		t.Errorf("the slope of a part is %s, want %v", slope, b)
	}
	l.Shots("large-part")
}

// slopeOf returns the slope of a least-squares line.
func slopeOf(rows [][2]float64) float64 {
	var x, y, sxx, sxy float64
	for _, r := range rows {
		x += r[0] / float64(len(rows))
		y += r[1] / float64(len(rows))
	}
	for _, r := range rows {
		sxx += (r[0] - x) * (r[0] - x)
		sxy += (r[0] - x) * (r[1] - y)
	}
	return sxy / sxx
}
