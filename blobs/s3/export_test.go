package s3

import "time"

// Connect is like Open, but sends no request to the server. idle limits the time for which a
// connection may be idle.
func Connect(address string, o Options, idle time.Duration) (*Store, error) {
	return connect(address, o, idle)
}
