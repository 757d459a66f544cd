package s3

import "time"

// Connect is like Open, without a request to the server. Its connections may be idle for this long.
func Connect(address string, o Options, idle time.Duration) (*Store, error) {
	return connect(address, o, idle)
}
