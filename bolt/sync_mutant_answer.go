//go:build mutant_answer

package bolt

import (
	"time"

	"go.etcd.io/bbolt"
)

// commit is wrong on purpose, to show that the tests notice: it returns before the commit is on stable storage.
func commit(btx *bbolt.Tx) error {
	db := btx.DB()
	db.NoSync = true
	err := btx.Commit()
	time.AfterFunc(5*time.Millisecond, func() { _ = db.Sync() })
	return err
}
