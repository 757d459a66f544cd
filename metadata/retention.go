package metadata

import (
	"fmt"
	"time"
)

// Retention defines which versions a dataspace keeps. The zero value keeps all. At most one field
// is set.
type Retention struct {
	Last uint32 // number of versions of each resource, including the current one
	Days uint32 // days after a version was replaced
}

// String returns the retention in the form of the API.
func (k Retention) String() string {
	switch {
	case k.Last > 0:
		return fmt.Sprintf("last %d", k.Last)
	case k.Days > 0:
		return fmt.Sprintf("%d days", k.Days)
	}
	return "everything"
}

// Keeps reports whether a version is kept at the clock reading now. present is the number of the
// current version, which is always kept.
func (k Retention) Keeps(v Version, present uint32, now Stamp) bool {
	switch {
	case v.Present(), v.Label != "":
		return true
	case k.Last > 0:
		return present-v.Number < k.Last
	case k.Days > 0:
		return v.Replaced >= now-Stamp(time.Duration(k.Days)*24*time.Hour/time.Microsecond)
	}
	return true
}
