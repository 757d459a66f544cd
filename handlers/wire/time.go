package wire

import "time"

// Time is an instant in UTC, with millisecond precision. Its JSON is RFC 3339 with three decimals.
// The zero Time is "".
type Time struct{ time.Time }

// MarshalJSON encodes the instant.
func (t Time) MarshalJSON() ([]byte, error) {
	const quoted = len(`"2006-01-02T15:04:05.000Z"`)
	b := append(make([]byte, 0, quoted), '"')
	if !t.IsZero() {
		b = AppendTime(b, t.UTC())
	}
	return append(b, '"'), nil
}

// UnmarshalJSON decodes an instant in RFC 3339, or "".
func (t *Time) UnmarshalJSON(text []byte) error {
	if string(text) == `""` {
		*t = Time{}
		return nil
	}
	return t.Time.UnmarshalJSON(text)
}

// AppendTime appends an instant in its JSON form without quotes. The instant must be in UTC. The
// function avoids package time, which interprets the layout on each call.
func AppendTime(b []byte, t time.Time) []byte {
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(b, "2006-01-02T15:04:05.000Z")
	}
	hour, minute, second := t.Clock()
	text := [...]byte{
		'0', '0', '0', '0', '-', '0', '0', '-', '0', '0', 'T', '0', '0', ':', '0', '0', ':', '0', '0', '.', '0', '0', '0', 'Z',
	}
	addPair(text[0:], year/100)
	addPair(text[2:], year%100)
	addPair(text[5:], int(month))
	addPair(text[8:], day)
	addPair(text[11:], hour)
	addPair(text[14:], minute)
	addPair(text[17:], second)
	millis := t.Nanosecond() / int(time.Millisecond)
	addPair(text[20:], millis/10)
	text[22] += byte(millis % 10)
	return append(b, text[:]...)
}

// addPair adds a two-digit number to two ASCII zeros.
func addPair(b []byte, n int) { b[0], b[1] = b[0]+byte(n/10), b[1]+byte(n%10) }

// Epoch is an instant in milliseconds since 1970, for programs that compute with numbers. It
// repeats a Time of the same object. Decoding JSON leaves it zero, so that the Time decides.
type Epoch int64

// UnmarshalJSON ignores the value.
func (*Epoch) UnmarshalJSON([]byte) error { return nil }
