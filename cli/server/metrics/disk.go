package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"labshelf/blobs/directory"
)

// disk measures the calls of blobs to a file system. It does not record names of files.
type disk struct {
	directory.FS
	create, write, sync, rename, remove, syncFolder prometheus.Observer
}

func newDisk(fs directory.FS, calls *prometheus.HistogramVec) *disk {
	return &disk{
		FS: fs, create: calls.WithLabelValues("create"), write: calls.WithLabelValues("write"), sync: calls.WithLabelValues("sync"),
		rename: calls.WithLabelValues("rename"), remove: calls.WithLabelValues("remove"), syncFolder: calls.WithLabelValues("sync_folder"),
	}
}

// Create implements [directory.FS].
func (d *disk) Create(path string) (directory.File, error) {
	defer since(d.create, time.Now())
	file, err := d.FS.Create(path)
	if err != nil {
		return nil, err
	}
	return &measured{File: file, disk: d}, nil
}

// Reopen implements [directory.FS].
func (d *disk) Reopen(path string, at int64) (directory.File, error) {
	file, err := d.FS.Reopen(path, at)
	if err != nil {
		return nil, err
	}
	return &measured{File: file, disk: d}, nil
}

// Rename implements [directory.FS].
func (d *disk) Rename(from, to string) error {
	defer since(d.rename, time.Now())
	return d.FS.Rename(from, to)
}

// Remove implements [directory.FS].
func (d *disk) Remove(path string) error {
	defer since(d.remove, time.Now())
	return d.FS.Remove(path)
}

// SyncDir implements [directory.FS].
func (d *disk) SyncDir(path string) error {
	defer since(d.syncFolder, time.Now())
	return d.FS.SyncDir(path)
}

// measured is a file being written.
type measured struct {
	directory.File
	disk    *disk
	writing time.Duration // time spent in writes so far
}

func (f *measured) Write(p []byte) (int, error) {
	began := time.Now()
	n, err := f.File.Write(p)
	f.writing += time.Since(began)
	return n, err
}

func (f *measured) Sync() error {
	f.disk.write.Observe(f.writing.Seconds())
	defer since(f.disk.sync, time.Now())
	return f.File.Sync()
}
