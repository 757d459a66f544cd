package repository

import (
	"errors"
	"math"
	"strings"
	"time"
)

var errAge = errors.New("a length of time such as 90d, 36h, 1d12h or 1h30m, not negative")

// ParseAge reads a length of time as operators write it: a Go duration, which may begin with days of 24 hours (90d, 1.5d,
// 1d12h). The error states the rule and does not repeat the text.
func ParseAge(text string) (time.Duration, error) {
	var age time.Duration
	if number, rest, ok := strings.Cut(text, "d"); ok {
		hours, err := time.ParseDuration(number + "h")
		if err != nil || strings.Trim(number, "0123456789.") != "" || hours > math.MaxInt64/24 {
			return 0, errAge
		}
		if age, text = 24*hours, rest; rest == "" {
			return age, nil
		}
	}
	rest, err := time.ParseDuration(text)
	if err != nil || rest < 0 || rest > math.MaxInt64-age {
		return 0, errAge
	}
	return age + rest, nil
}
