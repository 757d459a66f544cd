package background

import (
	"context"
	"errors"
	"maps"
	"sync"

	"labshelf/metadata"
)

// The names of tasks in Errors.
const (
	TaskOpen             = "opening the metadata"
	TaskCascades         = "deletions and restorations"
	TaskScrub            = "reading all files to find damage"
	TaskExpiry           = "removing uploads that have expired"
	TaskWatermark        = "comparing the metadata with the files"
	TaskSetWatermark     = "writing the watermark among the files"
	TaskUnreferencedScan = "looking for unreferenced files"
	TaskFlush            = "flushing inline files"
	TaskWebhooks         = "sending webhooks"
	TaskInstruments      = "filling properties from files"
	TaskNodes            = "taking part in the cluster"
	TaskIndex            = "updating the search index"
	TaskDamage           = "a file is damaged or missing"
)

// ErrLost reports that another node has taken over this node's work. It is not a failure: the other
// node continues.
var ErrLost = errors.New("another node has taken this over")

// Errors holds the background tasks that are failing now. It is safe for concurrent use.
type Errors struct {
	mu      sync.Mutex
	failing map[string]string
	hear    func(task string, err error)
}

// NewErrors returns an empty Errors. If note is not nil, it is called for each background failure
// and each recovery.
func NewErrors(note func(task string, err error)) *Errors {
	if note == nil {
		note = func(string, error) {}
	}
	return &Errors{failing: map[string]string{}, hear: note}
}

// Report records the outcome of a task. The callback is called when a failure begins and when it
// ends, not for repeated failures. A shutdown and a takeover by another node (ErrLost) do not count
// as failures.
func (e *Errors) Report(task string, err error) {
	if errors.Is(err, context.Canceled) || errors.Is(err, metadata.ErrClosed) || errors.Is(err, ErrLost) {
		return
	}
	e.mu.Lock()
	_, before := e.failing[task]
	delete(e.failing, task)
	if err != nil {
		e.failing[task] = err.Error()
	}
	e.mu.Unlock()
	if before != (err != nil) {
		e.hear(task, err)
	}
}

// Note passes a single event to the callback. Failing does not list it.
func (e *Errors) Note(task string, err error) { e.hear(task, err) }

// Failing returns the errors of the tasks that are failing now, by task.
func (e *Errors) Failing() map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.failing)
}
