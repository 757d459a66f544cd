// Package mirror keeps a folder an exact copy of a listing of resources.
package mirror

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"labshelf/cli/client/fetch"
	"labshelf/cli/client/reference"
	"labshelf/cli/client/report"
	"labshelf/cli/exit"
	"labshelf/client"
)

// Options control the update of a mirror.
type Options struct {
	report.Output
	FromStart bool // read the whole listing again, and compare every file
	Parallel  int  // files to fetch at a time
	// AcceptDeletions removes files that are no longer in the listing, whatever their number.
	AcceptDeletions bool
	// Before is called before each change of the folder; an error ends the run there, as a power
	// failure would. It may be nil.
	Before func() error
}

// Run makes the folder dir a mirror of the listing that ref names, or updates the mirror. Errors:
// exit.ErrPartly, exit.ErrUsage, exit.ErrHeld before it would remove too many files.
func Run(ctx context.Context, c *client.Client, o Options, ref, dir string) error {
	h := &harvest{Options: o, Fetcher: fetch.Fetcher{Client: c}}
	return exit.Interrupted(ctx, h.update(ctx, ref, dir), "downloaded files are not fetched again")
}

// update updates the mirror in dir.
func (h *harvest) update(ctx context.Context, ref, dir string) (err error) {
	m, err := openMirror(dir, h.FromStart)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	m.Before = h.Before
	h.mirror, h.Root, h.Meter = m, m.Root, h.NewMeter("harvest")
	defer h.Meter.Close()
	if err := h.checkListing(ctx, ref); err != nil {
		return err
	}
	err = h.run(ctx)
	h.Meter.Close()
	return h.report(err)
}

// checkListing returns an error unless the mirror belongs to the listing that ref names. A ref of
// an earlier run is not looked up again.
func (h *harvest) checkListing(ctx context.Context, ref string) error {
	s := &h.state
	if slices.Contains(s.Asked, ref) {
		return nil
	}
	what, err := listing(ctx, h.Client, ref)
	switch {
	case err != nil:
		return err
	case h.fresh:
		return h.initState(ctx, what, ref)
	case what != s.Listing:
		return fmt.Errorf("%s is a mirror of %s/%s; choose another folder for %s", h.dir, s.Service, s.Listing, ref)
	}
	s.Asked = append(s.Asked, ref)
	return nil
}

// initState creates the state of a new mirror, if the listing exists.
func (h *harvest) initState(ctx context.Context, what, ref string) error {
	h.state = state{Format: mirrorFormat, Service: h.Client.Base(), Listing: what, Asked: []string{ref}, Next: h.firstPage(what)}
	_, err := client.FetchPage[client.Resource](ctx, h.Client, h.state.Next)
	if isOlder(err) {
		h.state.Next = strings.TrimSuffix(h.state.Next, withMetadata)
		_, err = client.FetchPage[client.Resource](ctx, h.Client, h.state.Next)
	}
	if err != nil {
		return err
	}
	if kind, _ := listingOf(what); kind != reference.ResourceKind {
		return nil
	}
	me, err := h.Client.Users.Me(ctx)
	h.state.User = me.ID
	return err
}

// harvest is one run of a mirror's update.
type harvest struct {
	Options
	fetch.Fetcher
	*mirror

	planning sync.Mutex // guards names and paths, which are assigned in sequence
	counts   harvested
	deletions
}

// run performs all steps of a run in order.
func (h *harvest) run(ctx context.Context) error {
	if err := h.prepare(ctx); err != nil {
		return err
	}
	now, lost, err := h.listDataspaces(ctx)
	if err != nil {
		return err
	}
	if err := h.checkLost(ctx, lost); err != nil {
		return err
	}
	if err := h.retryMissing(ctx); err != nil {
		return err
	}
	if err := h.followDataspaces(now, lost); err != nil {
		return err
	}
	if err := h.walk(ctx, ""); err != nil {
		return err
	}
	for len(h.state.Walks) > 0 { // including those that the walk has added
		for _, id := range slices.Sorted(maps.Keys(h.state.Walks)) {
			if err := h.walk(ctx, id); err != nil {
				return err
			}
		}
	}
	if err := h.dropUnseen(); err != nil {
		return err
	}
	return h.finish()
}

// prepare opens the log, and recovers from an interrupted run.
func (h *harvest) prepare(ctx context.Context) error {
	if err := h.openLog(h.FromStart); err != nil {
		return err
	}
	s := &h.state
	switch {
	case h.FromStart:
		if err := h.load(s.Metadata.Bytes, true); err != nil {
			return err
		}
		h.restart()
		if err := h.compact(); err != nil {
			return err
		}
	case s.FromStart:
		h.restart()
	case h.fresh:
		if err := h.writeState(); err != nil {
			return err
		}
	}
	if err := h.writeReadme(); err != nil {
		return err
	}
	return h.recover()
}

// restart begins the walk again.
func (h *harvest) restart() {
	h.state.FromStart, h.state.Walks, h.state.Dataspaces = true, nil, nil
	h.state.Next = h.firstPage(h.state.Listing)
}

// recover applies the last lines of the log if the previous run was interrupted before it had done
// so.
func (h *harvest) recover() error {
	j := h.state.Metadata
	if j.Done == j.Bytes {
		return nil
	}
	if h.index == nil {
		if err := h.load(j.Done, false); err != nil {
			return err
		}
	}
	var changes []*change
	err := h.readLines(j.Done, j.Bytes, func(at int64, text []byte) error {
		c, err := h.parse(at, text)
		if err != nil {
			return h.damagedf("%s has an invalid record at byte %d", metadataName, at)
		}
		changes = append(changes, c)
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range changes {
		h.updateIndex(c)
		if c.new != nil && c.new.path != "" {
			h.paths.Give(c.id, strings.TrimPrefix(c.new.path, filesName+"/"))
		}
	}
	return h.apply(changes, h.Meter.Say)
}

// loadIndex loads the index unless it is loaded.
func (h *harvest) loadIndex() error {
	if h.index != nil {
		return nil
	}
	return h.load(h.state.Metadata.Bytes, false)
}

// finish corrects names, stores the totals in the state, and removes leftovers.
func (h *harvest) finish() error {
	if err := h.correctNames(); err != nil {
		return err
	}
	if h.index == nil {
		return h.removeLeftovers()
	}
	s := &h.state
	s.Unsettled, s.Missing, s.Files, s.Bytes, s.Deleted = false, 0, 0, 0, 0
	for _, e := range h.index {
		switch {
		case !e.active:
			s.Deleted++
		case e.path == "":
			s.Missing++
		default:
			s.Files++
			s.Bytes += e.bytes
		}
	}
	err := h.writeState()
	if err == nil && h.shouldCompact() {
		err = h.compact()
	}
	if err == nil {
		err = h.removeLeftovers()
	}
	return err
}
