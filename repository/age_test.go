package repository_test

import (
	"strings"
	"testing"
	"time"

	"labshelf/repository/maintenance"
)

func TestParseAge(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"0": 0, "0d": 0, "90d": 90 * day, "1d12h": 36 * time.Hour, "1.5d": 36 * time.Hour, ".5d": 12 * time.Hour, "36h": 36 * time.Hour,
		"1h30m": 90 * time.Minute, "250ms": 250 * time.Millisecond, "1d1ns": day + 1, "106751d": 106751 * day,
		"106751d23h47m16.854775807s": 1<<63 - 1,
	} {
		if got, err := maintenance.ParseAge(text); got != want || err != nil {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "d", "90", "-1d", "-1h", "1d-1h", "+1d", "1h1d", "1h2d", "1d2d", "1dd", "1 d", " 1d", "1d ", "1D", "1w", "1y", "one", ".d", "1..5d", "1e3d", "١d",
		"106752d", "106751d24h", "99999999999999999999d", "9223372036854775808ns", strings.Repeat("9", 1000) + "d",
	} {
		if got, err := maintenance.ParseAge(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}

func FuzzParseAge(f *testing.F) {
	for _, text := range []string{"90d", "1d12h", "1.5d", "36h", "-1h", "106751d24h"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		age, err := maintenance.ParseAge(text)
		if age < 0 || err != nil && age != 0 {
			t.Fatalf("%q: %v, %v", text, age, err)
		}
		if again, err2 := maintenance.ParseAge(age.String()); err == nil && (again != age || err2 != nil) {
			t.Fatalf("%q: %v, read again %v, %v", text, age, again, err2)
		}
	})
}
