package faults

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestJudge tests that reads may not wait, and that changes and pages may wait only for the disk.
func TestJudge(t *testing.T) {
	t.Parallel()
	at := func(begun, took int) interval {
		return interval{time.UnixMilli(int64(begun)), time.Duration(took) * time.Millisecond}
	}
	for _, c := range []struct {
		name     string
		kind     string
		interval interval
		syncs    []interval
		says     string // "": no violation
	}{
		{"quick", changing, at(1000, 99), nil, ""},
		{"a slow read", reading, at(1000, 101), []interval{at(1000, 101)}, "a read at"},
		{"a slow page", listing, at(1000, 101), nil, "a page at"},
		{"a slow change", changing, at(1000, 101), nil, "a change at"},
		{"during a slow sync", changing, at(1000, 250), []interval{at(900, 50), at(1020, 300)}, ""},
		{"a page during a slow sync", listing, at(1000, 250), []interval{at(800, 1000)}, ""},
		{"during several syncs", changing, at(1000, 180), []interval{at(900, 140), at(1060, 20), at(1100, 20), at(1170, 30)}, ""},
		{"slower than the disk", changing, at(1000, 250), []interval{at(1020, 120)}, "130ms"},
		{"after a slow sync", changing, at(1000, 120), []interval{at(500, 499), at(1300, 400)}, "a change at"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := timed{reading: {at(0, 1)}, listing: {at(0, 1)}, changing: {at(0, 1)}, syncing: append([]interval{at(0, 1)}, c.syncs...)}
			m[c.kind] = append(m[c.kind], c.interval, at(5000, 1))
			err := (&trial{long: true}).judge(m)
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("judged %v, want %q", err, c.says)
			}
			if err := (&trial{}).judge(m); err != nil {
				t.Errorf("the short row judged %v", err)
			}
			delete(m, c.kind)
			if err := (&trial{long: true}).judge(m); err == nil {
				t.Errorf("judge accepts times without a %s", c.kind)
			}
		})
	}
}

// TestWithin tests that within accepts an incomplete answer, and rejects different values.
func TestWithin(t *testing.T) {
	t.Parallel()
	const was = `{"files": 3, "days": [{"day": "a", "files": 1}, {"day": "b", "files": 2}]}`
	for now, want := range map[string]bool{
		was: true,
		`{"files": 1, "days": [{"day": "b", "files": 0}]}`: true,
		`{"files": 4, "days": []}`:                         false,
		`{"files": 3, "days": [{"day": "c", "files": 0}]}`: false,
		`{"files": 3, "days": [{"day": "a", "files": 2}]}`: false,
		`{"files": 3, "days": [], "more": 1}`:              false,
		`{"files": "3", "days": []}`:                       false,
	} {
		var one, other any
		if err := errors.Join(json.Unmarshal([]byte(now), &one), json.Unmarshal([]byte(was), &other)); err != nil {
			t.Fatal(err)
		}
		if got := within(one, other); got != want {
			t.Errorf("%s is within %s: %t, want %t", now, was, got, want)
		}
	}
}
