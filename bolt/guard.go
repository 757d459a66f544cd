package bolt

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"labshelf/metadata"
)

// bbolt believes its file. Where that is damaged, or cannot be read any more, bbolt panics, or follows a page number to where
// nothing can be read. Everything that reads the file therefore runs guarded.

// guarded runs fn, which reads the file, and turns a panic or a fault that the file has caused into an ErrRecordDamaged. Any
// other panic goes on as if this were not here.
func guarded(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	returned := false
	defer func() {
		if !returned && fileIsToBlame() {
			err = fmt.Errorf("%w: %s", metadata.ErrRecordDamaged, reason(recover()))
		}
	}()
	err = fn()
	returned = true
	return err
}

// reason says for people why the file panicked.
func reason(panicked any) string {
	if _, ok := panicked.(runtime.Error); ok {
		return "a page leads to where nothing can be read"
	}
	return fmt.Sprint(panicked)
}

// fileIsToBlame tells whether the panic of which the calling deferred function is a part was caused by the file: an access to
// memory that is no memory, wherever it happened, or whatever happened in bbolt.
func fileIsToBlame() bool {
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

// asDamagedFile is what a damage of rows is at a time when the file as a whole is looked at.
func asDamagedFile(err error) error {
	if errors.Is(err, metadata.ErrRecordDamaged) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}
