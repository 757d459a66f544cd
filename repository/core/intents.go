package core

import (
	"labshelf/auth"
	"labshelf/metadata"
)

// Intent checks an upload in a transaction, and returns a function that stores it there.
type Intent func(*metadata.Tx, auth.Principal) (write func() error, err error)

// Only runs the checks and writes nothing.
func (check Intent) Only(tx *metadata.Tx, p auth.Principal) error {
	_, err := check(tx, p)
	return err
}

// AndWrite runs the checks and writes.
func (check Intent) AndWrite(tx *metadata.Tx, p auth.Principal) error {
	write, err := check(tx, p)
	if err != nil {
		return err
	}
	return write()
}
