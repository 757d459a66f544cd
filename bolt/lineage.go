package bolt

import (
	"time"

	"go.etcd.io/bbolt"

	"labshelf/metadata"
)

// epochVersion is the version of the schema that brought the epoch.
const epochVersion = 6

// lineage is the row of the epoch.
type lineage struct{ *tx }

func (l lineage) Epoch() (metadata.Epoch, error) {
	return value(l.tx, metaBucket, nameKey(epochRow), epochFields)
}

func (l lineage) Put(epoch metadata.Epoch) error {
	l.mustWrite()
	l.put(metaBucket, nameKey(epochRow), seal(nameKey(epochRow), epochFields, epoch))
	return l.failed
}

// LastStamp reads the row in a read transaction: the committer writes it with each commit, from what a transaction has given out.
func (l lineage) LastStamp() (metadata.Stamp, error) {
	if l.bolt.Writable() {
		return l.last, nil
	}
	return metaRow(l.tx, lastStampRow, lastStampFields)
}

// addEpoch gives a file its first epoch, which continues what is in it.
func addEpoch(btx *bbolt.Tx) error {
	t := &tx{bolt: btx}
	last, err := metaRow(t, lastStampRow, lastStampFields)
	if err != nil {
		return err
	}
	return lineage{t}.Put(metadata.NewEpoch(last, time.Now()))
}
