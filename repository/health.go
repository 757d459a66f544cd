package repository

import (
	"cmp"
	"context"
	"fmt"
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

// Condition is how the service is. Everyone may see Status; Detail is for sysadmins.
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
	Damaged      int64               // blobs known to be damaged or missing, counted up to 1000
	Scrub        metadata.ScrubState // how far the background reading of all blobs has come
	Room         *blobs.FreeSpace    // what is left for new files; nil: not known
	Inline       metadata.BodyCount  // bodies of which no file has been made yet
	Background   map[string]string   // what fails in the background now, by task
	Unreferenced metadata.BlobCount  // blobs that no resource refers to, as far as a scan or a purge has noticed
}

// Condition reads how the stores are.
func (s *Service) Condition(ctx context.Context) Condition {
	health := s.Health()
	c := Condition{Status: StatusOK, Detail: ConditionDetail{
		Identity: metadata.IdentityOf(s.stores.Meta.Secret()), ClockBehind: health.ClockBehind, Background: s.stores.Background.Failing(),
	}}
	if health.ReadOnly != nil {
		c.Status, c.Detail.ReadOnly = StatusReadOnly, health.ReadOnly.Error()
	}
	s.conditionOfRoom(&c)
	err := s.stores.Meta.View(ctx, func(tx *metadata.Tx) (err error) {
		if c.Detail.Damaged, err = s.stores.CountDamaged(tx); err != nil {
			return err
		}
		if c.Detail.Inline, err = tx.InlineBodies.Total(); err != nil {
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
	h := s.stores.Meta.Health()
	h.ReadOnly = cmp.Or(h.ReadOnly, s.stores.Unsynced())
	return h
}

// Ready returns an error if the metadata cannot even be read.
func (s *Service) Ready(ctx context.Context) error {
	return s.stores.View(ctx, func(*metadata.Tx) error { return nil })
}
