// Package servers starts the servers that a cluster of labshelf needs, PostgreSQL and an S3, for
// tests and measurements: real programs, on free ports of loopback, in temporary folders. It also
// has what stands between them and a client and breaks the connection: a [Proxy] that knows where a
// message of PostgreSQL ends, and [Faults] before an S3.
//
// Each server has a function that returns an error (NewPostgres), for programs, and one for tests
// (StartPostgres), which closes the server at the end of the test. A server whose program is not
// installed is ErrMissing; see [Missing].
package servers

import (
	"errors"
	"os"
	"testing"
)

// ErrMissing is that the program of a server is not installed on this machine.
var ErrMissing = errors.New("is not installed")

// Missing ends a test that cannot run here, and says why: it is skipped, except where CI=true,
// which is to run everything: there it fails.
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
