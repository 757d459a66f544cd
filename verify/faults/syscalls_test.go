package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"labshelf/verify/faults/passfs"
	"labshelf/verify/faults/script"
)

// syscalls kills the script before and after each call that changes or syncs something. It then
// kills the recovery at a random call.
func syscalls(ctx context.Context, t *trial) error {
	return t.onScript(ctx, func(g *golden) error {
		t.add("violations", 0)
		return t.together(ctx, 2*len(g.Calls), func(unit int) error {
			n := t.spread(unit, 2*len(g.Calls))
			point := killPoint{n/2 + 1, n%2 == 1, 1 + t.random(unit).IntN(g.recovery+4)}
			return killAt(ctx, filepath.Join(t.dir, fmt.Sprint(unit)), g, point)
		})
	})
}

// spread maps a unit to one of total positions: to its own number, or, if the row has a size, to a
// random position in the unit's share.
func (t *trial) spread(unit, total int) int {
	if t.size == 0 || t.size > total {
		return unit % total
	}
	from, to := unit*total/t.size, (unit+1)*total/t.size
	return from + t.random(unit).IntN(to-from)
}

// onScript records the script and calls fn with the recording.
func (t *trial) onScript(ctx context.Context, fn func(*golden) error) error {
	g, err := recordScript(ctx, filepath.Join(t.dir, "golden"))
	if err != nil {
		return err
	}
	t.log("%s: the script makes %d calls, recovery %d", t.name, len(g.Calls), g.recovery)
	return fn(g)
}

// killPoint defines when to kill.
type killPoint struct {
	call     int // of the script, from 1
	after    bool
	recovery int // kill the recovery before this call, from 1
}

// killAt runs the script until it is killed, then the recovery until it is killed, and checks the
// remaining files.
func killAt(ctx context.Context, dir string, g *golden, p killPoint) (err error) {
	a := acks{}
	last := ""
	late, at := p.call > g.creation, p.call
	if late {
		at -= g.creation
	}
	s, err := g.mountGolden(dir, late, func(s *mounted, c *passfs.Call, do func() syscall.Errno) syscall.Errno {
		if s.calls < at {
			return do()
		}
		last = strings.TrimSpace(fmt.Sprint(c.Kind, " ", c.Path, " ", c.To))
		if p.after {
			_ = do()
		}
		return s.kill()
	})
	if err != nil {
		return err
	}
	err = s.run(ctx, func(r script.Report) string { a.take(r); return script.Next }, childScript)
	if err = errors.Join(err, s.fs.Unmount()); err != nil {
		return err
	}
	s, err = newMount(dir, func(s *mounted, _ *passfs.Call, do func() syscall.Errno) syscall.Errno {
		if s.calls < p.recovery {
			return do()
		}
		return s.kill()
	})
	if err != nil {
		return err
	}
	err = s.run(ctx, nil, childRecover)
	if err = errors.Join(err, s.fs.Unmount()); err != nil {
		return err
	}
	wrong, err := script.Verify(ctx, s.below, g.expect(a))
	if err == nil && len(wrong) > 0 {
		name, _ := script.Operation(a.count)
		err = violated(nil, "killed at call %d (%s, after: %t) of %q and at call %d of the recovery:\n  %s",
			p.call, last, p.after, name, p.recovery, strings.Join(wrong, "\n  "))
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}
