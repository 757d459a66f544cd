//go:build mutant_nosync

package bolt

import "go.etcd.io/bbolt"

// commit is wrong on purpose, to show that the tests notice: it leaves the writing to the kernel.
func commit(btx *bbolt.Tx) error {
	btx.DB().NoSync = true
	return btx.Commit()
}
