package bolt

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"labshelf/metadata"
)

// bbolt trusts its file. If the file is damaged or unreadable, bbolt panics, or follows a page
// number to unmapped memory, which is a page fault. So all code that reads the file runs in
// catchFault.

// catchFault runs fn, which reads the file. It turns a panic or page fault that the file has caused
// into ErrRecordDamaged. Other panics pass through.
func catchFault(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	returned := false
	defer func() {
		if !returned && causedByFile() {
			err = fmt.Errorf("%w: %s", metadata.ErrRecordDamaged, faultText(recover()))
		}
	}()
	err = fn()
	returned = true
	return err
}

// faultText describes for people why reading the file panicked.
func faultText(panicked any) string {
	if _, ok := panicked.(runtime.Error); ok {
		return "a page refers to an address that cannot be read"
	}
	return fmt.Sprint(panicked)
}

// causedByFile reports, in a deferred function, whether the file caused the current panic: a page
// fault anywhere, or any panic in bbolt.
func causedByFile() bool {
	var calls [64]uintptr
	frames := runtime.CallersFrames(calls[:runtime.Callers(0, calls[:])])
	panicking := false
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		switch {
		case !panicking:
			panicking = frame.Function == "runtime.gopanic"
		case frame.Function == "runtime.panicmemAddr":
			return true
		case !strings.HasPrefix(frame.Function, "runtime."):
			return strings.HasPrefix(frame.Function, "go.etcd.io/bbolt")
		}
	}
	return false
}

// asDamagedFile adds ErrDamaged to damage of rows that makes the whole file unusable.
func asDamagedFile(err error) error {
	if errors.Is(err, metadata.ErrRecordDamaged) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}
