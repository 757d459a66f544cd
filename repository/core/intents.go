package core

import (
	"labshelf/auth"
	"labshelf/metadata"
)

// Intent checks what an upload is to do, in a transaction, and returns what does it there.
type Intent func(*metadata.Tx, auth.Principal) (write func() error, err error)

// Only checks, and writes nothing.
func (check Intent) Only(tx *metadata.Tx, p auth.Principal) error {
	_, err := check(tx, p)
	return err
}

// AndWrite checks, then writes.
func (check Intent) AndWrite(tx *metadata.Tx, p auth.Principal) error {
	write, err := check(tx, p)
	if err != nil {
		return err
	}
	return write()
}
