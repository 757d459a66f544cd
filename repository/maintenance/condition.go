package maintenance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/internal/nodes"
)

// MonitorConfig is what an operator decides about a service.
type MonitorConfig struct {
	Node       string        // name of this process among those that share the metadata
	TrashGrace time.Duration // how long a purge keeps removed files, unless the request says
	Room       func() (blobs.FreeSpace, error)
}

// Monitor tells how a service is, and lets sysadmins maintain it. It is safe for concurrent use.
type Monitor struct {
	core   *core.Core
	upkeep *Upkeep
	config MonitorConfig
}

// NewMonitor returns the monitor of a repository.
func NewMonitor(core *core.Core, upkeep *Upkeep, config MonitorConfig) *Monitor {
	return &Monitor{core: core, upkeep: upkeep, config: config}
}

// MayStillMaintain is MayStillRead for what only sysadmins are sent.
func (s *Monitor) MayStillMaintain(ctx context.Context, p auth.Principal) error {
	_, err := s.Upkeep(ctx, p)
	return core.Revoked(err)
}

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
	Node   string // the name of this process that its operator gave it; "": none
	Engine string // that keeps the metadata
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
	Nodes        []metadata.Node     // that share the metadata and were seen in the last minute; none where they are not shared
	Unreferenced metadata.BlobCount  // blobs that no resource refers to, as far as a scan or a purge has noticed
}

// Condition reads how the stores are.
func (s *Monitor) Condition(ctx context.Context) Condition {
	health := s.Health()
	c := Condition{Status: StatusOK, Node: s.config.Node, Engine: s.core.Stores.Meta.Engine().Name, Detail: ConditionDetail{
		Identity: metadata.IdentityOf(s.core.Stores.Meta.Secret()), ClockBehind: health.ClockBehind, Background: s.core.Stores.Background.Failing(),
	}}
	if health.ReadOnly != nil {
		c.Status, c.Detail.ReadOnly = StatusReadOnly, health.ReadOnly.Error()
	}
	s.conditionOfRoom(&c)
	err := s.core.Stores.Meta.View(ctx, func(tx *metadata.Tx) (err error) {
		if c.Detail.Damaged, err = s.core.Stores.CountDamaged(tx); err != nil {
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
		if c.Detail.Nodes, err = nodes.Seen(tx); err != nil {
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

// leastRoom is the room, in bytes, with less of which the service counts as read-only: a commit may
// need as much.
const leastRoom = 1 << 20

// conditionOfRoom adds how much room there is, and that changes are refused for want of it. That
// passes by itself.
func (s *Monitor) conditionOfRoom(c *Condition) {
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
func (s *Monitor) Health() metadata.Health {
	h := s.core.Stores.Meta.Health()
	h.ReadOnly = cmp.Or(h.ReadOnly, s.core.Stores.Unsynced())
	return h
}

// Ready returns an error if the metadata cannot even be read.
func (s *Monitor) Ready(ctx context.Context) error {
	return s.core.Stores.View(ctx, func(*metadata.Tx) error { return nil })
}

// Upkeep is for sysadmins, while the service runs.
func (s *Monitor) Upkeep(ctx context.Context, p auth.Principal) (*Upkeep, error) {
	err := s.core.View(ctx, p, func(_ *metadata.Tx, p auth.Principal) error { return core.OnlySysadmin(p) })
	if err != nil {
		return nil, err
	}
	return s.upkeep, nil
}

// TrashGrace is the grace of a purge that names no other.
func (s *Monitor) TrashGrace() time.Duration { return s.config.TrashGrace }

var errAge = errors.New("a length of time such as 90d, 36h, 1d12h or 1h30m, not negative")

// ParseAge reads a length of time as operators write it: a Go duration, which may begin with days
// of 24 hours (90d, 1.5d, 1d12h). The error states the rule and does not repeat the text.
func ParseAge(text string) (time.Duration, error) {
	var age time.Duration
	if number, rest, ok := strings.Cut(text, "d"); ok {
		hours, err := time.ParseDuration(number + "h")
		if err != nil || strings.Trim(number, "0123456789.") != "" || hours > math.MaxInt64/24 {
			return 0, errAge
		}
		if age, text = 24*hours, rest; rest == "" {
			return age, nil
		}
	}
	rest, err := time.ParseDuration(text)
	if err != nil || rest < 0 || rest > math.MaxInt64-age {
		return 0, errAge
	}
	return age + rest, nil
}
