package errs

import "errors"

// Ignore returns nil for an error that is of kind, as errors.Is tells, and any other one as it is.
func Ignore(err, kind error) error {
	if errors.Is(err, kind) {
		return nil
	}
	return err
}
