package metadata

import (
	"crypto/rand"
	"time"

	"github.com/oklog/ulid/v2"
)

// ID is the permanent name of one object. It is a ULID made from the stamp of the object's
// creation, so that the order of ids is the order of creation.
type ID = ulid.ULID

// Stamp is a commit-ordered time in microseconds since 1970, UTC. Each committed operation gets its
// own, strictly greater than every one before it; the order of stamps is the order of commits. No
// stamp is a whole millisecond. The zero Stamp is no time. It is taken inside the write
// transaction: times taken before it were out of commit order 137 times in 8,000 commits.
type Stamp int64

const microsPerMilli = 1000

// NextStamp returns the stamp that follows last at a clock reading of now: the clock's, if that is
// later, else the next one after last. It skips whole milliseconds, so that two time windows which
// share a bound of millisecond precision neither lose nor double an object.
func NextStamp(last Stamp, now time.Time) Stamp {
	next := max(Stamp(now.UnixMicro()), last+1)
	if next%microsPerMilli == 0 {
		next++
	}
	return next
}

// Time returns the stamp cut to the millisecond, in UTC: what the interface shows.
func (s Stamp) Time() time.Time {
	return time.UnixMilli(s.Millis()).UTC()
}

// Millis returns the stamp in milliseconds since 1970, cut, not rounded.
func (s Stamp) Millis() int64 {
	return int64(s) / microsPerMilli
}

// NewID makes the id of an object created at stamp: 48 bits of milliseconds, 10 bits of
// microseconds within the millisecond, 70 random bits. A later stamp always gives a greater id.
func NewID(stamp Stamp) ID {
	var id ID
	rand.Read(id[6:])
	if err := id.SetTime(uint64(stamp.Millis())); err != nil {
		panic("metadata: stamp beyond the year 10889") // 48 bits of milliseconds
	}
	micros := uint16(stamp % microsPerMilli)
	id[6] = byte(micros >> 2)
	id[7] = byte(micros<<6) | id[7]&0x3f
	return id
}

// ParseID reads an id as the interface writes it. Another spelling of the same bits is not that id:
// ids are opaque.
func ParseID(s string) (ID, bool) {
	id, err := ulid.ParseStrict(s)
	return id, err == nil && id.String() == s
}
