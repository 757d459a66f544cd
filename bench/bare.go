package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"go.etcd.io/bbolt"

	"labshelf/blobs"
)

// bareRow is the size of the row that a bare commit puts: about what the record of a resource has.
const bareRow = 600

// bareDisk does with files and commits what no durable upload can do without, and nothing else: a temporary file written and
// synced, a rename into one of 256 folders, a sync of that folder, a commit of one row. Who comes while a commit is under way
// shares the next one.
type bareDisk struct {
	disk    blobs.OS
	folder  string
	db      *bbolt.DB
	numbers atomic.Uint64
	queue   chan commit
	stopped chan struct{}
}

// commit is one row on its way.
type commit struct {
	key  uint64
	done chan error
}

func openBareDisk(folder string) (*bareDisk, error) {
	d := &bareDisk{folder: folder, queue: make(chan commit, 64), stopped: make(chan struct{})}
	folders := []string{folder, filepath.Join(folder, "tmp")}
	for first := range 256 {
		folders = append(folders, d.home(uint64(first)))
	}
	for _, folder := range folders {
		if err := d.disk.Mkdir(folder); err != nil {
			return nil, err
		}
	}
	db, err := bbolt.Open(filepath.Join(folder, "bare.db"), 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	d.db = db
	if err := db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte("rows"))
		return err
	}); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	go d.commits()
	return d, nil
}

func (d *bareDisk) close() error {
	close(d.queue)
	<-d.stopped
	return d.db.Close()
}

func (d *bareDisk) home(n uint64) string { return filepath.Join(d.folder, fmt.Sprintf("%02x", n%256)) }

// put brings a body and a row to the disk.
func (d *bareDisk) put(body []byte) error {
	n := d.numbers.Add(1)
	name := fmt.Sprintf("%016x", n)
	temp := filepath.Join(d.folder, "tmp", name)
	file, err := d.disk.Create(temp)
	if err != nil {
		return err
	}
	_, err = file.Write(body)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := d.disk.Rename(temp, filepath.Join(d.home(n), name)); err != nil {
		return err
	}
	if err := d.disk.SyncDir(d.home(n)); err != nil {
		return err
	}
	done := make(chan error, 1)
	d.queue <- commit{n, done}
	return <-done
}

// commits commits whatever is queued together, until the queue is closed.
func (d *bareDisk) commits() {
	defer close(d.stopped)
	for first := range d.queue {
		batch := []commit{first}
		for waiting := len(d.queue); waiting > 0; waiting-- {
			batch = append(batch, <-d.queue)
		}
		err := d.db.Update(func(tx *bbolt.Tx) error {
			rows := tx.Bucket([]byte("rows"))
			for _, c := range batch {
				if err := rows.Put(binary.BigEndian.AppendUint64(nil, c.key), make([]byte, bareRow)); err != nil {
					return err
				}
			}
			return nil
		})
		for _, c := range batch {
			c.done <- err
		}
	}
}
