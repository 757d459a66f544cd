package metadatatest

import (
	"errors"
	"testing"
	"time"

	"labshelf/metadata"
)

func stampTests() map[string]func(*testing.T, *store) {
	return map[string]func(*testing.T, *store){
		"stamps rise and are no whole millisecond": testStamps,
		"only commits consume stamps":              testStampsOfFailures,
		"stamps rise after opening again":          testStampsAfterReopen,
		"a clock that is behind is told":           testHealth,
		"the secret stays":                         testSecret,
	}
}

// stampIs takes a stamp and reports where it is not the one that follows last at the present reading of the clock.
func stampIs(t *testing.T, s *store, when string, last metadata.Stamp) metadata.Stamp {
	t.Helper()
	got := s.stamp(t)
	if want := metadata.NextStamp(last, s.clock.now()); got != want {
		t.Errorf("%s: stamp %d follows %d, want %d", when, got, last, want)
	}
	if got <= last || got%1000 == 0 {
		t.Errorf("%s: stamp %d follows %d", when, got, last)
	}
	return got
}

func testStamps(t *testing.T, s *store) {
	last := stampIs(t, s, "the first, at a whole millisecond", 0)
	for range 3 {
		last = stampIs(t, s, "a clock that stands still", last)
	}
	for _, by := range []time.Duration{
		time.Microsecond, 999 * time.Microsecond, time.Millisecond, time.Hour, -time.Minute, -24 * time.Hour, 48 * time.Hour,
	} {
		s.clock.move(by)
		last = stampIs(t, s, "a clock that moved by "+by.String(), last)
	}
	var many []metadata.Stamp
	s.update(t, func(tx *metadata.Tx) error {
		many = nil
		for range 2500 {
			many = append(many, tx.Stamp())
		}
		return nil
	})
	for _, stamp := range many {
		if want := metadata.NextStamp(last, s.clock.now()); stamp != want {
			t.Fatalf("stamp %d of one transaction follows %d, want %d", stamp, last, want)
		}
		last = stamp
	}
	stampIs(t, s, "after a transaction that took many", last)
}

func testStampsOfFailures(t *testing.T, s *store) {
	last := s.stamp(t)
	for name, write := range map[string]func(*metadata.Tx) error{
		"without a write": func(*metadata.Tx) error { return nil },
		"after a write":   func(tx *metadata.Tx) error { return put(tx, filled[metadata.User](false)) },
	} {
		err := s.Update(t.Context(), func(tx *metadata.Tx) error {
			for range 2000 {
				tx.Stamp()
			}
			return errors.Join(write(tx), errOnPurpose)
		})
		isError(t, "an update that took stamps and failed "+name, err, errOnPurpose)
		last = stampIs(t, s, "after one that failed "+name, last)
	}
}

func testStampsAfterReopen(t *testing.T, s *store) {
	last := s.stamp(t)
	s.clock.move(-24 * time.Hour)
	for range 3 {
		s.reopen(t)
		last = stampIs(t, s, "opened again, a day back", last)
	}
	s.clock.move(72 * time.Hour)
	s.reopen(t)
	stampIs(t, s, "opened again, days on", last)
}

func testHealth(t *testing.T, s *store) {
	check := func(when string, want time.Duration) {
		t.Helper()
		health := s.Health()
		if health.ReadOnly != nil {
			t.Errorf("%s: read-only: %v", when, health.ReadOnly)
		}
		if off := (health.ClockBehind - want).Abs(); off > time.Millisecond || want == 0 && off != 0 {
			t.Errorf("%s: the clock is %v behind, want %v", when, health.ClockBehind, want)
		}
	}
	check("a new store", 0)
	s.stamp(t)
	s.clock.move(time.Second)
	check("a second after a stamp", 0)
	s.clock.move(-time.Hour)
	check("an hour back", time.Hour-time.Second)
	s.reopen(t)
	check("an hour back, opened again", time.Hour-time.Second)
	s.clock.move(2 * time.Hour)
	check("an hour on", 0)
}

func testSecret(t *testing.T, s *store) {
	secret := s.Secret()
	if secret == ([32]byte{}) {
		t.Error("no secret")
	}
	s.stamp(t)
	same(t, "secret asked again", s.Secret(), secret)
	s.reopen(t)
	same(t, "secret after opening again", s.Secret(), secret)
	if newStore(t, s.open).Secret() == secret {
		t.Error("two stores have one secret")
	}
}
