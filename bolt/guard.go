package bolt

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"labshelf/repository"
)

// bbolt believes its file. Where that is damaged, or cannot be read any more, bbolt panics, or follows a page number to where
// nothing can be read. Everything that reads the file therefore runs guarded.

// guarded runs fn, which reads the file, and turns a panic or a fault that the file has caused into an ErrRecordDamaged. Any
// other panic goes on.
func guarded(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if err = damage(p); err == nil {
			panic(p)
		}
	}()
	return fn()
}

// damage returns an ErrRecordDamaged if the panic of which the calling deferred function is a part was caused by the file: an
// access to memory that is no memory, wherever it happened, or whatever happened in bbolt. Otherwise it returns nil.
func damage(p any) error {
	_, fault := p.(interface{ Addr() uintptr })
	if !fault && !strings.HasPrefix(panicking(), "go.etcd.io/bbolt") {
		return nil
	}
	return fmt.Errorf("%w: %v", repository.ErrRecordDamaged, p)
}

// panicking returns the name of the function that has panicked.
func panicking() string {
	var calls [64]uintptr
	frames := runtime.CallersFrames(calls[:runtime.Callers(0, calls[:])])
	begun := false
	for {
		frame, more := frames.Next()
		if begun && !strings.HasPrefix(frame.Function, "runtime.") {
			return frame.Function
		}
		begun = begun || frame.Function == "runtime.gopanic"
		if !more {
			return ""
		}
	}
}

// asDamagedFile is what a damage of rows is at a time when the file as a whole is looked at.
func asDamagedFile(err error) error {
	if errors.Is(err, repository.ErrRecordDamaged) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}
