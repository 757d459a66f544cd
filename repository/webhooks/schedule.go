package webhooks

import (
	"math/rand/v2"
	"time"
)

// pauses are those between the tries of one message: ten tries in three days.
var pauses = [...]time.Duration{
	5 * time.Second, 30 * time.Second, 5 * time.Minute, 30 * time.Minute,
	2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 22 * time.Hour, 29 * time.Hour,
}

// MaxTries is how often a message is sent before its hook pauses.
const MaxTries = len(pauses) + 1

// maxRetryAfter bounds the time for which a receiver can ask.
const maxRetryAfter = 24 * time.Hour

// Pause returns how long to wait after a number of tries, from 1, of which the last had this
// answer: up to a tenth more or less than the schedule, so that receivers which came back are not
// met by all services at once, and no less than what the receiver asked for, up to a day. Not ok:
// that was the last try.
func Pause(tries int, last Answer) (pause time.Duration, ok bool) {
	if tries >= MaxTries {
		return 0, false
	}
	planned := pauses[max(tries, 1)-1]
	planned += time.Duration((rand.Float64() - 0.5) / 5 * float64(planned))
	return max(planned, min(last.RetryAfter, maxRetryAfter)), true
}
