package bolt

import (
	"errors"
	"testing"
)

// TestCatchFaultPassesOtherPanics tests that a programming error remains a panic, with its stack.
func TestCatchFaultPassesOtherPanics(t *testing.T) {
	t.Parallel()
	var none *Store
	text := "a"
	for name, mistake := range map[string]func() error{
		"panic":       func() error { panic("by mistake") },
		"nil":         func() error { return none.file.Close() },
		"nil pointer": func() error { none.secret = [32]byte{}; return nil },
		"index":       func() error { return errors.New(text[len(text)+1:]) },
	} {
		if !panics(func() { _ = catchFault(mistake) }) {
			t.Errorf("%s: the panic was not passed on", name)
		}
	}
	if err := catchFault(func() error { return errOnPurpose }); !errors.Is(err, errOnPurpose) {
		t.Errorf("an error: %v", err)
	}
}

func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}
