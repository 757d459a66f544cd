package query_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"labshelf/search/query"
)

// TestBounds checks both sides of a bound, within and beyond rounding errors of conversions.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, bound := range []float64{293.15, -3, 0, 5e-4, 1e300} {
		near, far := math.Abs(bound)*5e-10, math.Abs(bound)*5e-9+1e-300
		for _, test := range []struct {
			x                                      float64
			above, aboveClosed, below, belowClosed bool
		}{
			{bound, false, true, false, true},
			{bound + near, false, true, false, true},
			{bound - near, false, true, false, true},
			{bound + far, true, true, false, false},
			{bound - far, false, false, true, true},
		} {
			got := []bool{
				query.Above(test.x, bound, false), query.Above(test.x, bound, true),
				query.Below(test.x, bound, false), query.Below(test.x, bound, true),
			}
			if want := []bool{test.above, test.aboveClosed, test.below, test.belowClosed}; !slices.Equal(got, want) {
				t.Errorf("%v at %v: %v, want %v", test.x, bound, got, want)
			}
		}
	}
}

func TestSpanIsHalfOpen(t *testing.T) {
	t.Parallel()
	s := query.Span{From: 2, To: 4}
	for x, want := range map[int64]bool{1: false, 2: true, 3: true, 4: false} {
		if s.Holds(x) != want {
			t.Errorf("%d: %t, want %t", x, s.Holds(x), want)
		}
	}
}

// TestResolve checks that the query does not change, because the next caller can read other paths.
func TestResolve(t *testing.T) {
	t.Parallel()
	q, err := query.Parse("ice in:Lab/raw -in:other")
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string][][16]byte{"Lab/raw": {{1}}, "other": {{2}, {3}}}
	resolved, err := q.Resolve(func(path string) ([][16]byte, error) { return ids[path], nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := resolved.Clauses; got[0].Within != nil || !slices.Equal(got[1].Within, ids["Lab/raw"]) || !slices.Equal(got[2].Within, ids["other"]) {
		t.Errorf("resolved to %+v", got)
	}
	if q.Clauses[1].Within != nil {
		t.Error("the query itself has changed")
	}
	if resolved.String() != q.String() {
		t.Errorf("%q, want %q", resolved, q)
	}
	failure := errors.New("no such path")
	if _, err := q.Resolve(func(string) ([][16]byte, error) { return nil, failure }); !errors.Is(err, failure) {
		t.Errorf("error %v", err)
	}
}

func TestReadings(t *testing.T) {
	t.Parallel()
	for unit, want := range map[string][]string{"C": {"C", "°C"}, "F": {"F", "°F"}, "mm": {"mm"}, "": {""}} {
		if got := query.Readings(unit); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", unit, got, want)
		}
	}
}
