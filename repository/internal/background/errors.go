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
	TaskCascades         = "deletions and restorations under way"
	TaskScrub            = "reading all files to find damage"
	TaskExpiry           = "removing uploads that have expired"
	TaskWatermark        = "comparing the metadata with the files"
	TaskSetWatermark     = "writing down among the files how far the metadata are"
	TaskUnreferencedScan = "looking for files that nothing refers to"
	TaskFlush            = "flushing inline files"
	TaskWebhooks         = "sending webhooks"
	TaskInstruments      = "filling properties from files"
	TaskNodes            = "taking part among the nodes"
	TaskIndex            = "indexing for the search"
	TaskDamage           = "a file is damaged or missing"
)

// ErrLost says that another node has taken over what this one did. It is no failure: that node goes
// on.
var ErrLost = errors.New("another node has taken this over")

// Errors are what fails in the background now. They are safe for concurrent use.
type Errors struct {
	mu      sync.Mutex
	failing map[string]string
	hear    func(task string, err error)
}

// NewErrors takes the function that hears of what goes wrong in the background; nil: none.
func NewErrors(note func(task string, err error)) *Errors {
	if note == nil {
		note = func(string, error) {}
	}
	return &Errors{failing: map[string]string{}, hear: note}
}

// Report takes how a task went. A failure is noted when it begins and when it ends, not each time
// in between; that the service ends, or another node has taken over, is none.
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

// Note passes on what happened once, and does not go on.
func (e *Errors) Note(task string, err error) { e.hear(task, err) }

// Failing returns what fails now, by task.
func (e *Errors) Failing() map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.failing)
}
