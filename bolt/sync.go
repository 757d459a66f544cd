//go:build !mutant_nosync && !mutant_answer

package bolt

import "go.etcd.io/bbolt"

// commit writes what a transaction has changed, and returns when it is on stable storage.
func commit(btx *bbolt.Tx) error { return btx.Commit() }
