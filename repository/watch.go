package repository

import (
	"time"

	"labshelf/metadata"
)

// Watch hears of what the service does beside answering requests, for those who measure it. Its functions are called from several
// goroutines, must return soon, and must not call the Service. Those that are nil hear nothing.
type Watch struct {
	// Purged hears of a purge that was more than a dry run: what it removed, how long it took, and why it ended early.
	Purged func(removed PurgeResult, took time.Duration, err error)
	// Scrubbed hears of a blob that was read in the background to see whether it is whole.
	Scrubbed func(bytes int64, damaged bool)
	// Moved hears of a batch of held bodies that have become files, how long that took, and why it failed.
	Moved func(moved metadata.BodyCount, took time.Duration, err error)
}

func (w *Watch) purged(removed PurgeResult, took time.Duration, err error) {
	if w.Purged != nil {
		w.Purged(removed, took, err)
	}
}

func (w *Watch) moved(moved metadata.BodyCount, took time.Duration, err error) {
	if w.Moved != nil {
		w.Moved(moved, took, err)
	}
}

func (w *Watch) scrubbed(bytes int64, damaged bool) {
	if w.Scrubbed != nil {
		w.Scrubbed(bytes, damaged)
	}
}
