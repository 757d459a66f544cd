package metadata

import (
	"context"
	"time"

	"labshelf/blobs"
)

// ClockOf returns the clock that dates objects: the store's clock, as now shows it. It is never
// behind the last stamp of the store, as far as this process knows.
func ClockOf(store Store, now func() time.Time) blobs.Clock {
	return func(context.Context) (time.Time, error) {
		return now().Add(max(0, store.Health().ClockBehind)), nil
	}
}
