package s3

import "time"

// Connect is Open without a question to the server, whose connections may be idle for so long.
func Connect(address string, o Options, idle time.Duration) (*Store, error) {
	return connect(address, o, idle)
}
