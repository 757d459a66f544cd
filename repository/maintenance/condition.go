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

// MonitorConfig holds the operator's settings of a service.
type MonitorConfig struct {
	Node       string        // name of this node
	TrashGrace time.Duration // how long a purge keeps removed files unless the request overrides it
	Room       func() (blobs.FreeSpace, error)
}

// Monitor reports the condition of a service, and lets sysadmins maintain it. It is safe for
// concurrent use.
type Monitor struct {
	core   *core.Core
	upkeep *Upkeep
	config MonitorConfig
}

// NewMonitor returns the monitor of a repository.
func NewMonitor(core *core.Core, upkeep *Upkeep, config MonitorConfig) *Monitor {
	return &Monitor{core: core, upkeep: upkeep, config: config}
}

// MayStillMaintain is like MayStillRead for streams that only sysadmins may receive.
func (s *Monitor) MayStillMaintain(ctx context.Context, p auth.Principal) error {
	_, err := s.Upkeep(ctx, p)
	return core.Revoked(err)
}

// Status summarizes the condition of the service.
type Status string

// The statuses.
const (
	StatusOK       Status = "OK"
	StatusReadOnly Status = "READ-ONLY" // no changes until a restart, or until there is free space
	StatusFailing  Status = "FAILING"   // not even reads succeed
)

// Condition is the condition of the service. Everyone may see Status; Detail is for sysadmins.
type Condition struct {
	Status Status
	Node   string // the name that the operator gave to this process; may be ""
	Engine string // the metadata engine
	Detail ConditionDetail
}

// ConditionDetail explains the condition of the service. Errors have the same texts as in a log.
type ConditionDetail struct {
	Failing      string              // why reads fail; "" if they succeed
	ReadOnly     string              // why changes are refused; "" if they are not
	Identity     metadata.Identity   // of the repository
	Epoch        metadata.Epoch      // since when the metadata have not been reset to an older state
	ClockBehind  time.Duration       // of the clock behind the last stamp; 0 if it is not
	Damaged      int64               // number of blobs known to be damaged or missing, at most 1000
	Scrub        metadata.ScrubState // progress of the background verification
	Room         *blobs.FreeSpace    // free space for files; nil if unknown
	Inline       metadata.BodyCount  // bodies that are not flushed to files yet
	Background   map[string]string   // errors of background tasks that are failing now, by task
	Nodes        []metadata.Node     // seen in the last minute; empty without sharing
	Unreferenced metadata.BlobCount  // unreferenced blobs that a scan or a purge has recorded
}

// Condition reads the condition of the stores.
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

// leastRoom is the minimum free space in bytes. With less, the service counts as read-only, because
// a commit may need that much.
const leastRoom = 1 << 20

// conditionOfRoom adds the free space, and sets StatusReadOnly if there is too little. The status
// returns to OK as soon as there is enough space.
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
	c.Detail.ReadOnly = fmt.Sprintf("only %d bytes are left for files; the service accepts changes again when space is free", room.Bytes)
	if room.Files == 0 {
		c.Detail.ReadOnly = "no inodes are left for files; the service accepts changes again when some are free"
	}
}

// Health returns the health of the stores.
func (s *Monitor) Health() metadata.Health {
	h := s.core.Stores.Meta.Health()
	h.ReadOnly = cmp.Or(h.ReadOnly, s.core.Stores.Unsynced())
	return h
}

// Ready returns an error if the metadata cannot be read.
func (s *Monitor) Ready(ctx context.Context) error {
	return s.core.Stores.View(ctx, func(*metadata.Tx) error { return nil })
}

// Upkeep returns the upkeep of the running service. Only sysadmins may call it.
func (s *Monitor) Upkeep(ctx context.Context, p auth.Principal) (*Upkeep, error) {
	err := s.core.View(ctx, p, func(_ *metadata.Tx, p auth.Principal) error { return core.OnlySysadmin(p) })
	if err != nil {
		return nil, err
	}
	return s.upkeep, nil
}

// TrashGrace returns the grace period of a purge whose request does not set one.
func (s *Monitor) TrashGrace() time.Duration { return s.config.TrashGrace }

var errAge = errors.New("a length of time such as 90d, 36h, 1d12h or 1h30m, not negative")

// ParseAge parses a duration: a Go duration, optionally preceded by days of 24 hours (90d, 1.5d,
// 1d12h). The duration must not be negative. The text of the error states the rule and does not
// repeat the input.
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
