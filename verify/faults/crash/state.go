package crash

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"labshelf/verify/faults/passfs"
)

// Choice identifies one state of the disk.
type Choice struct {
	Calls int // number of calls made before the power cut
	Keep  Keep
	Pick  int    // index of the pending change, for KeepOne
	Seed  uint64 // for KeepSome
}

// Keep selects the unsynced changes that have reached the disk.
type Keep string

// The kinds of Keep. KeepSome decides at random, also for parts of a write of 512 bytes or 4 KiB.
// The length of the file is independent of its bytes.
const (
	KeepNone Keep = "none"
	KeepAll  Keep = "all"
	KeepOne  Keep = "one"
	KeepSome Keep = "some"
)

// String returns the arguments that select the state.
func (c Choice) String() string { return fmt.Sprintf("%d:%s:%d:%d", c.Calls, c.Keep, c.Pick, c.Seed) }

// Maximum numbers of states at one position of the recording with several pending changes.
const (
	mostSingles = 6
	someRandom  = 8
)

// Choices lists states for every number of calls: without pending changes, with all of them, with
// single ones and with random ones. If only new directories are pending, which is frequent, it
// lists only two states.
func (r *Recording) Choices(seed uint64) (all []Choice, err error) {
	random := rand.New(rand.NewPCG(seed, 0))
	d := newDisk()
	for calls := range len(r.Calls) + 1 {
		if calls > 0 {
			if err := r.step(d, calls-1); err != nil {
				return nil, err
			}
			d.settle()
		}
		if calls > 0 && r.Calls[calls-1].Kind == passfs.Attr {
			continue // the same state as before
		}
		n := len(d.pending)
		all = append(all, Choice{Calls: calls, Keep: KeepNone})
		if n == 0 {
			continue
		}
		singles, randoms := min(n, mostSingles), someRandom
		if onlyDirs(d.pending) || r.Acked(calls) == 0 && n == 1 {
			singles, randoms = 0, 1
		} else {
			all = append(all, Choice{Calls: calls, Keep: KeepAll})
		}
		if n == 1 {
			singles, randoms = 0, min(randoms, 2)
		}
		for _, pick := range random.Perm(n)[:singles] {
			all = append(all, Choice{Calls: calls, Keep: KeepOne, Pick: pick})
		}
		for range randoms {
			all = append(all, Choice{Calls: calls, Keep: KeepSome, Seed: random.Uint64()})
		}
	}
	return all, nil
}

// onlyDirs reports whether all pending changes create directories.
func onlyDirs(pending []*change) bool {
	for _, c := range pending {
		for _, object := range c.names {
			if _, ok := object.(*dir); !ok {
				return false
			}
		}
		if c.file != nil {
			return false
		}
	}
	return true
}

// Build creates the state in an empty directory.
func (r *Recording) Build(choice Choice, into string) error {
	d, err := r.after(choice.Calls)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(choice.Seed, uint64(choice.Calls)))
	for n, c := range d.pending {
		switch {
		case choice.Keep == KeepAll, choice.Keep == KeepOne && n == choice.Pick:
			c.keep()
		case choice.Keep == KeepSome && random.IntN(2) == 0:
			c.keep()
		case choice.Keep == KeepSome && c.file != nil && !c.resize && random.IntN(2) == 0:
			c.tear(random)
		}
	}
	return d.root.build(into, map[*file]string{})
}

func (c *change) keep() {
	if c.file != nil {
		c.apply(c.data)
		return
	}
	c.name()
}

// tear writes random parts of a write.
func (c *change) tear(random *rand.Rand) {
	unit := int64(512)
	if random.IntN(2) == 0 {
		unit = 4096
	}
	end := c.offset + int64(len(c.data))
	if random.IntN(2) == 0 {
		c.file.extend(end)
	}
	for from := c.offset; from < end; {
		to := min(end, (from/unit+1)*unit)
		if random.IntN(2) == 0 {
			c.file.extend(to)
			copy(c.file.data[from:to], c.data[from-c.offset:to-c.offset])
		}
		from = to
	}
}

// build creates the durable content of the directory.
func (d *dir) build(into string, made map[*file]string) error {
	for name, object := range d.names {
		place := filepath.Join(into, name)
		var err error
		switch o := object.(type) {
		case *dir:
			err = errors.Join(os.Mkdir(place, 0o700), o.build(place, made))
		case *file:
			if other, linked := made[o]; linked {
				err = os.Link(other, place)
				break
			}
			made[o] = place
			err = WriteFile(place, o.data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// WriteFile creates a file of mode 0600. Zeros at its end occupy no space.
func WriteFile(path string, data []byte) error {
	if err := os.WriteFile(path, bytes.TrimRight(data, "\x00"), 0o600); err != nil {
		return err
	}
	return os.Truncate(path, int64(len(data)))
}
