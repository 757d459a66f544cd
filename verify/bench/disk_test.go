package main

import (
	"context"
	"errors"
	"testing"
)

// TestAtRest tests that atRest stops waiting when the run is cancelled.
func TestAtRest(t *testing.T) {
	t.Parallel()
	over, end := context.WithCancel(t.Context())
	end()
	for _, rest := range []bool{false, true} {
		b := &bench{plan: plan{rest: rest}}
		if err := b.atRest(over); !errors.Is(err, context.Canceled) {
			t.Errorf("rest %t: %v", rest, err)
		}
	}
}
