package main

import (
	"fmt"
	"slices"
	"strings"
)

// row is one line of the table: what the program did, beside what that is compared with, one figure of each per round.
type row struct {
	what, unit string
	ours       []float64
	beside     string
	theirs     []float64
	difference bool    // ours - theirs is what counts, in every round; else the median of ours / theirs
	limit      float64 // of that; 0: none
}

// compared is the one figure that the row comes to.
func (r row) compared() float64 {
	each := make([]float64, len(r.ours))
	for i := range each {
		if r.difference {
			each[i] = r.ours[i] - r.theirs[i]
			continue
		}
		each[i] = r.ours[i] / r.theirs[i]
	}
	if r.difference {
		return slices.Max(each)
	}
	return median(each)
}

// missed tells whether the row is over its limit.
func (r row) missed() bool { return r.limit > 0 && r.compared() > r.limit }

// table returns the rows in Markdown.
func table(rows []row) string {
	var text strings.Builder
	text.WriteString("| what | unit | median | min | max | beside | median | min | max | ratio | limit |\n" +
		"|---|---|--:|--:|--:|---|--:|--:|--:|--:|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s | %s | %s |\n",
			r.what, r.unit, spread(r.ours), r.beside, spread(r.theirs), r.comparison(r.compared()), r.verdict())
	}
	return text.String()
}

func (r row) verdict() string {
	if r.limit == 0 {
		return ""
	}
	verdict := "kept"
	if r.missed() {
		verdict = "MISSED"
	}
	return r.comparison(r.limit) + " " + verdict
}

// comparison writes a ratio, or a difference with its sign.
func (r row) comparison(figure float64) string {
	if r.difference {
		return fmt.Sprintf("%+.1f", figure)
	}
	return fmt.Sprintf("%.2f", figure)
}

// spread writes median, least and greatest as three cells.
func spread(figures []float64) string {
	return fmt.Sprintf("%s | %s | %s", short(median(figures)), short(slices.Min(figures)), short(slices.Max(figures)))
}

// short writes a figure with the digits that mean something.
func short(figure float64) string {
	switch {
	case figure >= 100:
		return fmt.Sprintf("%.0f", figure)
	case figure >= 10:
		return fmt.Sprintf("%.1f", figure)
	}
	return fmt.Sprintf("%.2f", figure)
}

// median returns the middle of figures, of which there is at least one; of two in the middle, their mean.
func median(figures []float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
