package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"go.etcd.io/bbolt"

	"labshelf/blobs/directory"
)

// bareRow is the size in bytes of the row in a bare commit, about the size of a resource record.
const bareRow = 600

// bareStore is a plain bbolt file, as the lower bound for a commit. Changes queued during a commit
// share the next one.
type bareStore struct {
	db      *bbolt.DB
	queue   chan bareChange
	stopped chan struct{}
}

// bareChange is a queued row. If body is not nil, it is stored in the same transaction.
type bareChange struct {
	key  uint64
	body []byte
	done chan error
}

func openBareStore(path string) (*bareStore, error) {
	options := &bbolt.Options{FreelistType: bbolt.FreelistMapType}
	if runtime.GOOS != "windows" { // on Windows the file would grow to this size
		options.InitialMmapSize = 4 << 30 // a new mapping stops all transactions
	}
	db, err := bbolt.Open(path, 0o600, options)
	if err != nil {
		return nil, err
	}
	if err := db.Update(func(tx *bbolt.Tx) error {
		_, rows := tx.CreateBucket([]byte("rows"))
		_, bodies := tx.CreateBucket([]byte("bodies"))
		return errors.Join(rows, bodies)
	}); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &bareStore{db: db, queue: make(chan bareChange, 64), stopped: make(chan struct{})}
	go s.commits()
	return s, nil
}

func (s *bareStore) close() error {
	close(s.queue)
	<-s.stopped
	return s.db.Close()
}

// put commits a row, and the body if it is not nil. Each key must be greater than the keys before.
func (s *bareStore) put(key uint64, body []byte) error {
	done := make(chan error, 1)
	s.queue <- bareChange{key, body, done}
	return <-done
}

// commits runs until the queue is closed. It commits all queued changes in one transaction.
func (s *bareStore) commits() {
	defer close(s.stopped)
	for first := range s.queue {
		batch := []bareChange{first}
		for waiting := len(s.queue); waiting > 0; waiting-- {
			batch = append(batch, <-s.queue)
		}
		err := s.db.Update(func(tx *bbolt.Tx) error { return putAll(tx, batch) })
		for _, change := range batch {
			change.done <- err
		}
	}
}

func putAll(tx *bbolt.Tx, batch []bareChange) error {
	rows, bodies := tx.Bucket([]byte("rows")), tx.Bucket([]byte("bodies"))
	rows.FillPercent, bodies.FillPercent = 1, 1 // keys are appended in order
	for _, change := range batch {
		key := binary.BigEndian.AppendUint64(nil, change.key)
		err := rows.Put(key, make([]byte, bareRow))
		if change.body != nil {
			err = errors.Join(err, bodies.Put(key, change.body))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bareFiles performs only the steps that a durable upload with its own file cannot omit. It writes
// and syncs a temporary file in one of 256 folders, renames it within the folder, syncs the folder,
// and commits one row.
type bareFiles struct {
	disk   directory.OS
	folder string
	store  *bareStore
}

func openBareFiles(folder string) (*bareFiles, error) {
	f := &bareFiles{folder: folder}
	folders := []string{folder}
	for first := range 256 {
		folders = append(folders, f.home(uint64(first)))
	}
	for _, folder := range folders {
		if err := os.Mkdir(folder, 0o700); err != nil {
			return nil, err
		}
	}
	store, err := openBareStore(filepath.Join(folder, "bare.db"))
	f.store = store
	return f, err
}

func (f *bareFiles) close() error { return f.store.close() }

func (f *bareFiles) home(n uint64) string { return filepath.Join(f.folder, fmt.Sprintf("%02x", n%256)) }

// put stores a body and a row durably.
func (f *bareFiles) put(key uint64, body []byte) error {
	path := filepath.Join(f.home(key), fmt.Sprintf("%016x", key))
	temp := path + ".tmp"
	file, err := f.disk.Create(temp)
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
	if err := f.disk.Rename(temp, path); err != nil {
		return err
	}
	if err := f.disk.SyncDir(f.home(key)); err != nil {
		return err
	}
	return f.store.put(key, nil)
}
