package errs

import "errors"

// Ignore returns nil if err is of a kind, according to errors.Is; otherwise it returns err.
func Ignore(err, kind error) error {
	if errors.Is(err, kind) {
		return nil
	}
	return err
}
