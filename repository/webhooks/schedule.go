package webhooks

import (
	"math/rand/v2"
	"time"
)

// pauses are the pauses between the tries of one message: ten tries in three days.
var pauses = [...]time.Duration{
	5 * time.Second, 30 * time.Second, 5 * time.Minute, 30 * time.Minute,
	2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 22 * time.Hour, 29 * time.Hour,
}

// MaxTries is the number of times that a message is sent before its webhook pauses.
const MaxTries = len(pauses) + 1

// maxRetryAfter is the longest pause that a receiver can request.
const maxRetryAfter = 24 * time.Hour

// Pause returns how long to wait after a number of tries, from 1, the last of which had this
// response. The pause varies by up to a tenth, so that a recovered receiver does not get the
// messages of all services at the same time. It is at least the pause that the receiver requests,
// up to a day. ok is false after the last try.
func Pause(tries int, last Answer) (pause time.Duration, ok bool) {
	if tries >= MaxTries {
		return 0, false
	}
	planned := pauses[max(tries, 1)-1]
	planned += time.Duration((rand.Float64() - 0.5) / 5 * float64(planned))
	return max(planned, min(last.RetryAfter, maxRetryAfter)), true
}
