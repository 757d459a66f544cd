package metadata

import (
	"crypto/rand"
	"time"

	"github.com/oklog/ulid/v2"
)

// ID is the permanent name of an object. It is a ULID made from the stamp of the object's creation,
// so that the order of ids is the order of creation.
type ID = ulid.ULID

// Stamp is a commit-ordered time in microseconds since 1970, UTC. Each committed operation gets a
// stamp that is greater than all earlier ones. The order of stamps is the order of commits, because
// a stamp is taken inside the write transaction. No stamp is a whole millisecond. The zero Stamp
// means no time.
type Stamp int64

const microsPerMilli = 1000

// NextStamp returns the stamp that follows the stamp last: the clock reading now if that is later,
// otherwise the smallest stamp greater than last. It skips whole milliseconds, so that two adjacent
// time windows with millisecond bounds neither lose nor repeat an object.
func NextStamp(last Stamp, now time.Time) Stamp {
	next := max(Stamp(now.UnixMicro()), last+1)
	if next%microsPerMilli == 0 {
		next++
	}
	return next
}

// Time returns the stamp truncated to the millisecond, in UTC, as the API shows it.
func (s Stamp) Time() time.Time {
	return time.UnixMilli(s.Millis()).UTC()
}

// Millis returns the stamp in milliseconds since 1970, truncated.
func (s Stamp) Millis() int64 {
	return int64(s) / microsPerMilli
}

// NewID creates the id of an object created at stamp: 48 bits of milliseconds, 10 bits of
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

// ParseID parses an id in the form of the API. It refuses other spellings of the same bits, because
// ids are opaque.
func ParseID(s string) (ID, bool) {
	id, err := ulid.ParseStrict(s)
	return id, err == nil && id.String() == s
}
