package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"labshelf/client"
)

// harvesting is a harvest under way.
type harvesting struct {
	Process
	fetcher
	*mirror
	asJSON, fromStart bool
	parallel          int
	before            func() error // see folder

	planning sync.Mutex // held by who looks up names or gives out a path
	counts   harvested
}

// harvested is what a harvest has done, as --json has it.
type harvested struct {
	Fetched      int   `json:"fetched"`      // files
	FetchedBytes int64 `json:"fetchedBytes"` // in them
	Changed      int   `json:"changed"`      // records of which no file was fetched
	Deleted      int   `json:"deleted"`      // resources that were deleted, or can no longer be read
}

// chunkBytes is how many bytes are fetched, if there is more than one file in them, before they get their names.
const chunkBytes = 1 << 30

// run does all that is to be done.
func (h *harvesting) run(ctx context.Context) error {
	if err := h.prepare(ctx); err != nil {
		return err
	}
	if err := h.again(ctx); err != nil {
		return err
	}
	if err := h.compareDataspaces(ctx); err != nil {
		return err
	}
	if err := h.walk(ctx, ""); err != nil {
		return err
	}
	for len(h.state.Walks) > 0 { // what the walk found is among them
		for _, id := range sortedIDs(h.state.Walks) {
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

func sortedIDs[T any](of map[string]T) []string {
	ids := make([]string, 0, len(of))
	for id := range of {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// prepare makes the mirror what its state says, after whatever has happened.
func (h *harvesting) prepare(ctx context.Context) error {
	if err := h.openLog(h.fromStart); err != nil {
		return err
	}
	s := &h.state
	switch {
	case h.fromStart:
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
	if err := h.furnish(); err != nil {
		return err
	}
	return h.redo()
}

// restart lets the walk begin anew.
func (h *harvesting) restart() {
	h.state.FromStart, h.state.Walks, h.state.Dataspaces = true, nil, nil
	h.state.Next = h.client.Base() + "/" + h.state.Listing
}

// redo brings the files to where the last lines say they are, if that was left in the middle.
func (h *harvesting) redo() error {
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
	err := h.lines(j.Done, j.Bytes, func(at int64, text []byte) error {
		c, err := h.parse(at, text)
		if err != nil {
			return h.damagedf("%s has something else than a record at byte %d", metadataName, at)
		}
		changes = append(changes, c)
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range changes {
		h.note(c)
		if c.new != nil && c.new.path != "" {
			h.paths.Give(c.id, strings.TrimPrefix(c.new.path, filesName+"/"))
		}
	}
	return h.apply(changes, h.meter.say)
}

// indexed makes sure that there is an index.
func (h *harvesting) indexed() error {
	if h.index != nil {
		return nil
	}
	return h.load(h.state.Metadata.Bytes, false)
}

// again tries again what could not be got in earlier runs.
func (h *harvesting) again(ctx context.Context) error {
	if h.state.Missing == 0 || h.state.FromStart {
		return nil
	}
	if err := h.indexed(); err != nil {
		return err
	}
	var records []client.Resource
	for _, id := range sortedIDs(h.index) {
		if e := h.index[id]; e.active && e.path == "" {
			r, err := h.client.Resource(ctx, id)
			if err != nil && !closed(err) {
				return err
			}
			if err == nil {
				records = append(records, r)
			}
		}
	}
	return h.takeAll(ctx, records, func(*progress) {})
}

// closed tells whether the caller may not, or no longer, read what he asked for.
func closed(err error) bool {
	var problem *client.Problem
	return errors.As(err, &problem) && problem.Code != "" && (problem.Status == 403 || problem.Status == 404)
}

// walk goes through the pages from where the last run has stopped: of the listing, or of a dataspace that could not be read earlier.
func (h *harvesting) walk(ctx context.Context, dataspace string) error {
	from := h.state.Next
	if dataspace != "" {
		from = h.state.Walks[dataspace]
	}
	for page, err := range client.Pages[client.Resource](ctx, h.client, from) {
		switch {
		case closed(err) && dataspace != "": // once more; the next run tells
			delete(h.state.Walks, dataspace)
			return nil
		case err != nil:
			return h.explained(err)
		case page.End:
			delete(h.state.Walks, dataspace)
			return nil
		}
		if err := h.indexed(); err != nil {
			return err
		}
		err := h.takeAll(ctx, page.Data, func(s *progress) {
			if dataspace == "" {
				s.Next = page.Next
			} else {
				s.Walks[dataspace] = page.Next
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// explained is an error of a page with what it means for a mirror.
func (h *harvesting) explained(err error) error {
	var problem *client.Problem
	if errors.As(err, &problem) && problem.Code == "invalid_page_token" {
		return fmt.Errorf("%v\nthe service does not know the page at which the last run has ended: is it another one than %s? Should it be the right one, run it again with --from-start",
			err, h.state.Service)
	}
	return err
}

// takeAll takes over what records say, in bounded pieces; with the last of them it changes the state, too.
func (h *harvesting) takeAll(ctx context.Context, records []client.Resource, then func(*progress)) error {
	for _, r := range records {
		if !anID.MatchString(r.ID) || !anID.MatchString(r.SetID) || !anID.MatchString(r.DataspaceID) {
			return fmt.Errorf("the service gave %q, %q and %q for ids, which no labshelf does", r.ID, r.SetID, r.DataspaceID)
		}
		if r.State == client.Active {
			h.meter.expect(1, r.Bytes)
		}
	}
	for len(records) > 0 {
		n, bytes := 1, records[0].Bytes
		for n < len(records) && bytes+records[n].Bytes <= chunkBytes {
			bytes += records[n].Bytes
			n++
		}
		last := func(*progress) {}
		if n == len(records) {
			last = then
		}
		if err := h.take(ctx, records[:n], last); err != nil {
			return err
		}
		records = records[n:]
	}
	return nil
}

// take takes over what records say: first their files are fetched, then their lines written, then the files get their names.
func (h *harvesting) take(ctx context.Context, records []client.Resource, then func(*progress)) error {
	brought := make([]*change, len(records))
	if err := h.mkdir(incomingName); err != nil {
		return err
	}
	err := each(ctx, h.parallel, len(records), func(ctx context.Context, i int) (err error) {
		brought[i], err = h.bring(ctx, records[i])
		return err
	})
	if err != nil {
		return err
	}
	var changes []*change
	for _, c := range brought {
		if c == nil {
			continue
		}
		if c.old != nil {
			c.old.seen = true
		}
		if c.new.seen = true; !c.same() || h.there(c.staged()) {
			changes = append(changes, c)
			h.count(c)
		}
	}
	if err := h.write(changes, then); err != nil {
		return err
	}
	return h.apply(changes, h.meter.say)
}

// same tells whether a change changes nothing.
func (c *change) same() bool { return c.old != nil && c.new != nil && c.old.sum == sumOf(c.text) }

func (h *harvesting) count(c *change) {
	switch {
	case c.new == nil || !c.new.active:
		if c.old == nil || c.old.active {
			h.counts.Deleted++
		} else {
			h.counts.Changed++
		}
	case h.there(c.staged()):
		h.counts.Fetched++
		h.counts.FetchedBytes += c.new.bytes
	case c.new.path != "": // else it is missing
		h.counts.Changed++
	}
}
