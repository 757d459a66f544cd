// Package servers starts the servers that a cluster of labshelf needs, PostgreSQL and S3, for tests
// and measurements: real programs, on free loopback ports, in temporary folders. It also has
// proxies that break connections: a [Proxy] that finds the ends of PostgreSQL messages, and
// [Faults] before an S3 server.
//
// Each server has a function that returns an error (NewPostgres), for programs, and one for tests
// (StartPostgres), which closes the server at the end of the test. If the program of a server is
// not installed, the error is ErrMissing; see [Missing].
package servers

import (
	"errors"
	"os"
	"testing"
)

// ErrMissing means that the program of a server is not installed on this machine.
var ErrMissing = errors.New("is not installed")

// Missing ends a test that cannot run here, with the reason. It skips the test, but fails it if
// CI=true, because CI runs everything.
func Missing(tb testing.TB, why any) {
	tb.Helper()
	if os.Getenv("CI") == "true" {
		tb.Fatalf("in CI this must run: %v", why)
	}
	tb.Skip("not tried: ", why)
}

// need ends a test whose server did not start.
func need(tb testing.TB, err error) {
	tb.Helper()
	switch {
	case errors.Is(err, ErrMissing):
		Missing(tb, err)
	case err != nil:
		tb.Fatal(err)
	}
}

// closing closes a server at the end of a test.
func closing(tb testing.TB, server interface{ Close() error }) {
	tb.Cleanup(func() {
		if err := server.Close(); err != nil {
			tb.Error(err)
		}
	})
}
