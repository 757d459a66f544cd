package metadata_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"labshelf/metadata"
)

// TestStampsRise tests that each stamp is greater than the previous one for any clock, and is never
// a whole millisecond.
func TestStampsRise(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		last := metadata.Stamp(rapid.Int64Range(0, 4e15).Draw(t, "last"))
		for range 50 {
			clock := time.UnixMicro(int64(last) + rapid.Int64Range(-5e6, 5e6).Draw(t, "step"))
			next := metadata.NextStamp(last, clock)
			switch {
			case next <= last:
				t.Fatalf("%d after %d", next, last)
			case next%1000 == 0:
				t.Fatalf("%d is a whole millisecond", next)
			case next > last+2 && int64(next)-clock.UnixMicro() > 1:
				t.Fatalf("%d is ahead of the clock at %d for no reason", next, clock.UnixMicro())
			}
			last = next
		}
	})
}

// TestIDsAreInTheOrderOfStamps tests that ids are ordered like stamps, down to the microsecond, and
// contain the millisecond.
func TestIDsAreInTheOrderOfStamps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		earlier := metadata.Stamp(rapid.Int64Range(1, 4e15).Draw(t, "stamp"))
		later := earlier + metadata.Stamp(rapid.Int64Range(1, 2000).Draw(t, "after"))
		a, b := metadata.NewID(earlier), metadata.NewID(later)
		if a.Compare(b) >= 0 {
			t.Fatalf("the id %s of %d is not before the id %s of %d", a, earlier, b, later)
		}
		if got := int64(b.Time()); got != later.Millis() {
			t.Fatalf("the id contains %d ms, the stamp %d", got, later.Millis())
		}
	})
}

func TestDaysOfStamps(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]metadata.Day{"1970-01-01T00:00:00Z": 0, "1970-01-02T23:59:59.999Z": 1, "2026-11-21T00:00:00Z": 20778} {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := metadata.Stamp(at.UnixMicro()).Day(); got != want {
			t.Errorf("%s is day %d, want %d", text, got, want)
		}
	}
}
