package commands

import (
	"context"
	"errors"
	"fmt"

	"labshelf/client"
)

// bring fetches what a record says, unless it is here, and returns what becomes of its resource. A record that has been overtaken
// is read again: what the page said comes once more anyway, later in the walk. nil: it can no longer be read.
func (h *harvesting) bring(ctx context.Context, r client.Resource) (*change, error) {
	for try := 1; ; try++ {
		c, err := h.plan(ctx, r)
		if closed(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		err = h.content(ctx, c)
		switch {
		case err == nil:
			h.meter.finished(1)
			return c, nil
		case errors.Is(err, errReplaced) && try < fetchTries:
			overtaken := r.Bytes
			r, err = h.client.Resource(ctx, r.ID)
			if closed(err) {
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			h.meter.expect(0, r.Bytes-overtaken)
			continue
		case ctx.Err() != nil || !onlyThis(err):
			return nil, err
		}
		h.meter.say(fmt.Sprintf("%s: %s; it is tried again in the next run", printable(c.new.path), printable(err.Error())))
		return h.without(c, r)
	}
}

// plan says what becomes of a resource that has this record.
func (h *harvesting) plan(ctx context.Context, r client.Resource) (*change, error) {
	h.planning.Lock()
	defer h.planning.Unlock()
	home, err := h.homeOf(ctx, r)
	if err != nil {
		return nil, err
	}
	c := &change{id: r.ID, old: h.index[r.ID], modified: r.Modified}
	c.new = &entry{home: home, name: r.Name, bytes: r.Bytes, digest: r.SHA256, active: r.State == client.Active}
	switch {
	case !c.new.active:
	case c.old != nil && c.old.path != "" && c.old.name == r.Name:
		c.new.path = c.old.path
	default:
		c.new.path = filesName + "/" + h.paths.Give(r.ID, home.full(r.ID, r.Name))
	}
	c.text, err = encoded(beside{c.new.path, home.dataspace, home.set}, r)
	return c, err
}

// without is a change to a resource whose file cannot be had.
func (h *harvesting) without(c *change, r client.Resource) (_ *change, err error) {
	c.new.path = ""
	c.text, err = encoded(beside{"", c.new.home.dataspace, c.new.home.set}, r)
	return c, err
}

// homeOf returns where a resource is. Names never change, so each is asked for once.
func (h *harvesting) homeOf(ctx context.Context, r client.Resource) (*home, error) {
	kind, _ := listingOf(h.state.Listing)
	if kind == resourceKind && h.state.Dataspaces[r.DataspaceID] == "" { // made or opened to the caller since the walk began
		d, err := h.client.Dataspace(ctx, r.DataspaceID)
		if err != nil {
			return nil, err
		}
		h.discover(d.ID, d.Name)
	}
	if known := h.homes[r.SetID]; known != nil {
		return known, nil
	}
	at := home{dataspaceID: r.DataspaceID}
	if kind != setKind {
		set, err := h.client.Set(ctx, r.SetID)
		if err != nil {
			return nil, err
		}
		at.set = set.Name
	}
	if kind == resourceKind {
		at.dataspace = h.state.Dataspaces[r.DataspaceID]
	}
	return h.homeAs(r.SetID, at), nil
}

// content sees to it that the file of a change is here, under its old name or staged.
func (h *harvesting) content(ctx context.Context, c *change) error {
	w := wanted{c.id, c.new.bytes, c.new.digest, c.modified}
	if c.new.path == "" {
		return nil
	}
	if h.has(c.staged(), w.bytes) {
		h.meter.skipped(w.bytes)
		return nil
	}
	var perhaps []string
	if c.old != nil && c.old.path != "" && c.old.digest == w.digest {
		perhaps = append(perhaps, c.old.path)
	} else if h.state.FromStart { // of what the mirror knows no more
		perhaps = append(perhaps, c.new.path)
	}
	for _, name := range perhaps {
		if whole, err := h.whole(ctx, name, w); whole || err != nil {
			return err
		}
	}
	arriving := c.staged() + partialSuffix
	if err := h.fetch(ctx, w, arriving); err != nil {
		return err
	}
	return h.rename(arriving, c.staged())
}

// whole tells whether a file is what it should be. Only a walk from the start reads what an earlier run has read, and brings its time
// back.
func (h *harvesting) whole(ctx context.Context, name string, w wanted) (bool, error) {
	if !h.has(name, w.bytes) {
		return false, nil
	}
	if h.state.FromStart {
		digest, err := digestOf(ctx, h.root, name)
		if err != nil || digest != w.digest {
			return false, ctx.Err()
		}
		if err := h.change(func() error { return h.root.Chtimes(name, w.modified, w.modified) }); err != nil {
			return false, err
		}
	}
	h.meter.skipped(w.bytes)
	return true, nil
}

// report says in the end what has been done. stopped is why that is not all.
func (h *harvesting) report(stopped error) (err error) {
	s := h.state
	if h.asJSON {
		err = h.writeJSON(struct {
			harvested
			Missing int   `json:"missing"` // files that could not be got
			Files   int   `json:"files"`   // here
			Bytes   int64 `json:"bytes"`   // in them
		}{h.counts, s.Missing, s.Files, s.Bytes})
	} else {
		err = h.counts.table(s, stopped == nil).write(h.Out, unlimited)
	}
	switch {
	case stopped != nil:
		return stopped
	case err == nil && s.Missing > 0:
		err = fmt.Errorf("%w: %s could not be got", ErrPartly, fileCount(s.Missing))
	}
	return err
}

func (c harvested) table(s progress, whole bool) *table {
	t := &table{}
	if c == (harvested{}) && whole {
		t.add("changed", "nothing")
	}
	if c.Fetched > 0 {
		t.add("fetched", fileCount(c.Fetched)+", "+FormatBytes(c.FetchedBytes))
	}
	if c.Changed > 0 {
		t.add("changed", fmt.Sprintf("%d without a new file", c.Changed))
	}
	if c.Deleted > 0 {
		t.add("deleted", fmt.Sprint(c.Deleted))
	}
	if whole && s.Missing > 0 {
		t.add("missing", fileCount(s.Missing))
	}
	if whole {
		t.add("here", fileCount(s.Files)+", "+FormatBytes(s.Bytes))
	}
	return t
}
