package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	t.Parallel()
	rows := []row{
		{what: "uploads", unit: "1/s", ours: []float64{1000, 900, 1100}, reference: "bare", theirs: []float64{2000, 2000, 2000},
			targets: []target{ratioAtLeast(0.5)}},
		{what: "uploads", unit: "1/s", ours: []float64{1000}, reference: "bare", theirs: []float64{2001}, targets: []target{ratioAtLeast(0.5)}},
		{what: "memory", unit: "MiB", ours: []float64{30, 32.5}, reference: "idle", theirs: []float64{12, 12}, worst: true,
			targets: []target{differenceAtMost(20)}},
		{what: "start", unit: "ms", ours: []float64{17, 15, 90}, reference: "empty", theirs: []float64{12, 12, 12}, targets: []target{differenceAtMost(5)}},
		{what: "page", unit: "µs", ours: []float64{130, 130, 900}, reference: "few", theirs: []float64{100, 100, 100},
			targets: []target{figureAtMost(120), ratioAtMost(1.3)}},
		{what: "wait", unit: "ms", ours: []float64{1.311, 26}, worst: true, targets: []target{figureAtMost(25)}},
		{what: "longest", unit: "ms", ours: []float64{4}, reference: "bare", theirs: []float64{1}},
	}
	want := strings.Join([]string{
		"| what | unit | median | min | max | reference | median | min | max | ratio | target |",
		"|---|---|--:|--:|--:|---|--:|--:|--:|--:|---|",
		"| uploads | 1/s | 1000 | 900 | 1100 | bare | 2000 | 2000 | 2000 | 0.50 | ≥ 0.50 kept |",
		"| uploads | 1/s | 1000 | 1000 | 1000 | bare | 2001 | 2001 | 2001 | 0.50 | ≥ 0.50 MISSED |",
		"| memory | MiB | 31.2 | 30.0 | 32.5 | idle | 12.0 | 12.0 | 12.0 | +20.5 | ≤ +20.0 MiB MISSED |",
		"| start | ms | 17.0 | 15.0 | 90.0 | empty | 12.0 | 12.0 | 12.0 | +5.0 | ≤ +5.0 ms kept |",
		"| page | µs | 130 | 130 | 900 | few | 100 | 100 | 100 | 1.30 | ≤ 120 µs MISSED; ≤ 1.30 kept |",
		"| wait | ms | 13.7 | 1.31 | 26.0 |  |  |  |  |  | ≤ 25 ms MISSED |",
		"| longest | ms | 4.00 | 4.00 | 4.00 | bare | 1.00 | 1.00 | 1.00 | 4.00 |  |",
		"",
	}, "\n")
	if diff := cmp.Diff(want, table(rows)); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}
