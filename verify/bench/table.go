package main

import (
	"fmt"
	"slices"
	"strings"
)

// row is a row of the table: the results of the program and of its reference, one of each per
// round.
type row struct {
	what, unit string
	ours       []float64
	reference  string // "": no reference
	theirs     []float64
	worst      bool // evaluate the worst round instead of the median
	targets    []target
}

// target is a bound for the results of a row.
type target struct {
	of    measure
	least bool // the bound is a minimum, otherwise a maximum
	bound float64
}

// measure is the quantity that a target limits.
type measure uint8

const (
	ratio      measure = iota // ours / theirs
	difference                // ours - theirs, in the unit of the row
	figure                    // ours, in the unit of the row
)

func ratioAtLeast(bound float64) target     { return target{ratio, true, bound} }
func ratioAtMost(bound float64) target      { return target{ratio, false, bound} }
func differenceAtMost(bound float64) target { return target{difference, false, bound} }
func figureAtLeast(bound float64) target    { return target{figure, true, bound} }
func figureAtMost(bound float64) target     { return target{figure, false, bound} }

// add adds the results of a round.
func (r *row) add(ours, theirs float64) {
	r.ours, r.theirs = append(r.ours, ours), append(r.theirs, theirs)
}

// reached returns the result of all rounds: their median, or their maximum if worst is set.
func (r row) reached(of measure) float64 {
	each := make([]float64, len(r.ours))
	for i := range each {
		switch of {
		case ratio:
			each[i] = r.ours[i] / r.theirs[i]
		case difference:
			each[i] = r.ours[i] - r.theirs[i]
		case figure:
			each[i] = r.ours[i]
		}
	}
	if r.worst {
		return slices.Max(each)
	}
	return median(each)
}

func (r row) keeps(t target) bool {
	if t.least {
		return r.reached(t.of) >= t.bound
	}
	return r.reached(t.of) <= t.bound
}

// missed reports whether the row misses one of its targets.
func (r row) missed() bool {
	return slices.ContainsFunc(r.targets, func(t target) bool { return !r.keeps(t) })
}

// table returns the rows in Markdown.
func table(rows []row) string {
	var text strings.Builder
	text.WriteString("| what | unit | median | min | max | reference | median | min | max | ratio | target |\n" +
		"|---|---|--:|--:|--:|---|--:|--:|--:|--:|---|\n")
	for _, r := range rows {
		theirs, compared := " |  | ", ""
		if r.reference != "" {
			theirs, compared = spread(r.theirs), r.compared()
		}
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s | %s | %s |\n",
			r.what, r.unit, spread(r.ours), r.reference, theirs, compared, r.verdicts())
	}
	return text.String()
}

// compared returns the column of the ratio, or the difference if a target limits the difference.
func (r row) compared() string {
	if slices.ContainsFunc(r.targets, func(t target) bool { return t.of == difference }) {
		return fmt.Sprintf("%+.1f", r.reached(difference))
	}
	return fmt.Sprintf("%.2f", r.reached(ratio))
}

func (r row) verdicts() string {
	var verdicts []string
	for _, t := range r.targets {
		verdict := "kept"
		if !r.keeps(t) {
			verdict = "MISSED"
		}
		verdicts = append(verdicts, r.aim(t)+" "+verdict)
	}
	return strings.Join(verdicts, "; ")
}

// aim formats a target.
func (r row) aim(t target) string {
	sign := "≤"
	if t.least {
		sign = "≥"
	}
	switch t.of {
	case difference:
		return fmt.Sprintf("%s %+.1f %s", sign, t.bound, r.unit)
	case figure:
		return fmt.Sprintf("%s %g %s", sign, t.bound, r.unit)
	}
	return fmt.Sprintf("%s %.2f", sign, t.bound)
}

// spread formats median, minimum and maximum as three cells.
func spread(figures []float64) string {
	return fmt.Sprintf("%s | %s | %s", short(median(figures)), short(slices.Min(figures)), short(slices.Max(figures)))
}

// short formats a figure with its significant digits.
func short(figure float64) string {
	switch {
	case figure >= 100:
		return fmt.Sprintf("%.0f", figure)
	case figure >= 10:
		return fmt.Sprintf("%.1f", figure)
	}
	return fmt.Sprintf("%.2f", figure)
}

// median returns the median of at least one figure. If there are two in the middle, it returns
// their mean.
func median(figures []float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
