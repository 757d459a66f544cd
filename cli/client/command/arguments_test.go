package command

import (
	"testing"
	"time"

	_ "labshelf/internal/testhome"
)

func TestParseEnd(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.Local)
	for text, want := range map[string]time.Time{
		"":                     {},
		"7d":                   now.AddDate(0, 0, 7),
		"12h":                  now.Add(12 * time.Hour),
		"2w":                   now.AddDate(0, 0, 14),
		"90min":                now.Add(90 * time.Minute),
		"2026-11-27":           time.Date(2026, 11, 28, 0, 0, 0, 0, time.Local),
		"2026-12-01 18:00":     time.Date(2026, 12, 1, 18, 0, 0, 0, time.Local),
		"2027-12-31T18:00:00Z": time.Date(2027, 12, 31, 18, 0, 0, 0, time.UTC),
	} {
		if got, err := ParseEnd(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"yesterday", "2026-11-26", "0d", "7", "d", "-7d", "7x", "9999999d", "999999w", "2026-11-27 11:59", "7d7"} {
		if got, err := ParseEnd(text, now); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}
