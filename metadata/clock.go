package metadata

import (
	"context"
	"time"

	"labshelf/blobs"
)

// ClockOf returns the clock by which objects are dated: that of the store, as now shows it, and
// never behind the last stamp that the store has given out by more than this process can know.
func ClockOf(store Store, now func() time.Time) blobs.Clock {
	return func(context.Context) (time.Time, error) {
		return now().Add(max(0, store.Health().ClockBehind)), nil
	}
}
