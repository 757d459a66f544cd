package repository

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"labshelf/blobs"
	"labshelf/metadata"
)

// Status says in one word how the service is.
type Status string

// The statuses.
const (
	StatusOK       Status = "OK"
	StatusReadOnly Status = "READ-ONLY" // it reads, and takes no changes: until it is restarted, or until there is room
	StatusFailing  Status = "FAILING"   // records cannot even be read
)

// Condition is how the service is. Anybody may see Status; Detail is for sysadmins.
type Condition struct {
	Status Status
	Detail ConditionDetail
}

// ConditionDetail is why the service is as it is, with the texts of errors as a log has them.
type ConditionDetail struct {
	Failing      string              // why records cannot be read; "" while they can
	ReadOnly     string              // why no change is taken; "" while they are
	Identity     metadata.Identity   // which repository it is
	Epoch        metadata.Epoch      // since when its metadata only went forward
	ClockBehind  time.Duration       // how far the clock is behind the last stamp; 0 if it is not
	Damaged      int64               // blobs known to be damaged or missing, counted up to MaxDamaged
	Scrub        metadata.ScrubState // how far the background reading of all blobs has come
	Room         *blobs.Room         // what is left for new files; nil: not known
	Held         metadata.BodyCount  // bodies of which no file has been made yet
	Background   map[string]string   // what fails in the background now, by task
	Unreferenced metadata.BlobCount  // blobs that no resource refers to, as far as a survey or a purge has noticed
}

// MaxDamaged is how far damaged blobs are counted for a Condition, which anybody may ask for at any time.
const MaxDamaged = 1000

// Condition looks at the stores.
func (s *Service) Condition(ctx context.Context) Condition {
	health := s.Health()
	c := Condition{Status: StatusOK, Detail: ConditionDetail{
		Identity: metadata.IdentityOf(s.meta.Secret()), ClockBehind: health.ClockBehind, Background: s.troubles.now(),
	}}
	if health.ReadOnly != nil {
		c.Status, c.Detail.ReadOnly = StatusReadOnly, health.ReadOnly.Error()
	}
	s.conditionOfRoom(&c)
	err := s.meta.View(ctx, func(tx *metadata.Tx) (err error) {
		if c.Detail.Damaged, err = s.countDamaged(tx); err != nil {
			return err
		}
		if c.Detail.Held, err = tx.Bodies.Total(); err != nil {
			return err
		}
		if c.Detail.Epoch, err = tx.Lineage.Epoch(); err != nil {
			return err
		}
		if c.Detail.Unreferenced, err = tx.Unreferenced.Total(); err != nil {
			return err
		}
		c.Detail.Scrub, err = tx.Scrub.Get()
		return err
	})
	if err != nil {
		c.Status, c.Detail.Failing = StatusFailing, err.Error()
	}
	return c
}

// leastRoom is the room, in bytes, with less of which the service counts as read-only: a commit may need as much.
const leastRoom = 1 << 20

// conditionOfRoom adds how much room there is, and that changes are refused for want of it. That passes by itself.
func (s *Service) conditionOfRoom(c *Condition) {
	if s.config.Room == nil {
		return
	}
	room, err := s.config.Room()
	if err != nil {
		return
	}
	c.Detail.Room = &room
	if c.Status != StatusOK || room.Bytes >= leastRoom && room.Files != 0 {
		return
	}
	c.Status = StatusReadOnly
	c.Detail.ReadOnly = fmt.Sprintf("no room is left for files: %d bytes; changes go on by themselves when there is some", room.Bytes)
	if room.Files == 0 {
		c.Detail.ReadOnly = "no inodes are left for files; changes go on by themselves when there are some"
	}
}

// Health tells how the stores are.
func (s *Service) Health() metadata.Health {
	h := s.meta.Health()
	if cause := s.unsynced.Load(); h.ReadOnly == nil && cause != nil {
		h.ReadOnly = *cause
	}
	return h
}

// Ready returns an error if the metadata cannot even be read.
func (s *Service) Ready(ctx context.Context) error {
	return s.read(ctx, func(*metadata.Tx) error { return nil })
}

// The tasks in the background whose failures Config.Note and Condition tell.
const (
	taskOpen         = "opening the metadata"
	taskSteps        = "deletions and restorations under way"
	taskScrub        = "reading all files to find damage"
	taskSweep        = "removing uploads that have expired"
	taskWatermark    = "comparing the metadata with the files"
	taskSetWatermark = "writing down among the files how far the metadata are"
	taskSurvey       = "looking for files that nothing refers to"
	taskMove         = "moving small files out of the metadata"
	taskDamage       = "a file is damaged or missing"
)

// troubles are what fails in the background now.
type troubles struct {
	mu      sync.Mutex
	failing map[string]string
	note    func(task string, err error)
}

// tell takes how a task went. A failure is noted when it begins and when it ends, not each time in between; that the service
// ends is none.
func (t *troubles) tell(task string, err error) {
	if errors.Is(err, context.Canceled) || errors.Is(err, metadata.ErrClosed) {
		return
	}
	t.mu.Lock()
	_, before := t.failing[task]
	delete(t.failing, task)
	if err != nil {
		t.failing[task] = err.Error()
	}
	t.mu.Unlock()
	if before != (err != nil) {
		t.note(task, err)
	}
}

func (t *troubles) now() map[string]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.failing)
}
