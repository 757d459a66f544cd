package mirror

import (
	"context"
	"errors"
	"fmt"

	"labshelf/cli/client/fetch"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/client"
)

// fetchResource fetches the file of a record, unless it is in place, and returns the change. It
// reads an outdated record again; the walk will meet that record later, too. It returns nil if the
// resource is no longer readable.
func (h *harvest) fetchResource(ctx context.Context, r client.Resource) (*change, error) {
	for try := 1; ; try++ {
		c, err := h.plan(ctx, r)
		if notReadable(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		err = h.fetchContent(ctx, c)
		switch {
		case err == nil:
			h.Meter.Finished(1)
			return c, nil
		case errors.Is(err, fetch.ErrReplaced) && try < fetch.Tries:
			overtaken := r.Bytes
			r, err = h.Client.Resources.Get(ctx, r.ID)
			if notReadable(err) {
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			h.Meter.Expect(0, r.Bytes-overtaken)
			continue
		case ctx.Err() != nil || !fetch.ConcernsOneFile(err):
			return nil, err
		}
		h.Meter.Say(fmt.Sprintf("%s: %s; the next run tries it again", display.Printable(c.new.path), display.Printable(err.Error())))
		return h.withoutFile(c, r)
	}
}

// plan returns the change to a record, and assigns the path of its file.
func (h *harvest) plan(ctx context.Context, r client.Resource) (*change, error) {
	h.planning.Lock()
	defer h.planning.Unlock()
	home, err := h.containerOf(ctx, r)
	if err != nil {
		return nil, err
	}
	c := &change{id: r.ID, old: h.index[r.ID], modified: r.Modified.Time}
	c.new = &entry{container: home, name: r.Name, bytes: r.Bytes, digest: r.SHA256, active: r.State == client.Active}
	switch {
	case !c.new.active:
	case c.old != nil && c.old.path != "" && c.old.name == r.Name:
		c.new.path = c.old.path
	default:
		c.new.path = filesName + "/" + h.paths.Give(r.ID, home.fullName(r.ID, r.Name))
	}
	c.text, err = encodeLine(location{c.new.path, home.dataspace, home.set}, r)
	return c, err
}

// withoutFile turns a change into one without a file, since the file could not be fetched.
func (h *harvest) withoutFile(c *change, r client.Resource) (_ *change, err error) {
	c.new.path = ""
	c.text, err = encodeLine(location{"", c.new.container.dataspace, c.new.container.set}, r)
	return c, err
}

// containerOf returns the container of a resource. Names never change, so each is requested once.
func (h *harvest) containerOf(ctx context.Context, r client.Resource) (*container, error) {
	kind, _ := listingOf(h.state.Listing)
	if kind == reference.ResourceKind && h.state.Dataspaces[r.DataspaceID] == "" { // created, or opened to the caller, since the walk began
		d, err := h.Client.Dataspaces.Get(ctx, r.DataspaceID)
		if err != nil {
			return nil, err
		}
		h.addDataspace(d.ID, d.Name)
	}
	if known := h.containers[r.SetID]; known != nil {
		return known, nil
	}
	at := container{dataspaceID: r.DataspaceID}
	if kind != reference.SetKind {
		set, err := h.Client.Sets.Get(ctx, r.SetID)
		if err != nil {
			return nil, err
		}
		at.set = set.Name
	}
	if kind == reference.ResourceKind {
		at.dataspace = h.state.Dataspaces[r.DataspaceID]
	}
	return h.containerAs(r.SetID, at), nil
}

// fetchContent fetches the file of a change, unless it exists under its old name or is staged.
func (h *harvest) fetchContent(ctx context.Context, c *change) error {
	w := fetch.File{ID: c.id, Bytes: c.new.bytes, Digest: c.new.digest, Modified: c.modified}
	if c.new.path == "" {
		return nil
	}
	if h.HasFile(c.staged(), w.Bytes) {
		h.Meter.Skipped(w.Bytes)
		return nil
	}
	var perhaps []string
	if c.old != nil && c.old.path != "" && c.old.digest == w.Digest {
		perhaps = append(perhaps, c.old.path)
	} else if h.state.FromStart { // the index might not contain it
		perhaps = append(perhaps, c.new.path)
	}
	for _, name := range perhaps {
		if whole, err := h.isComplete(ctx, name, w); whole || err != nil {
			return err
		}
	}
	arriving := c.staged() + fetch.PartialSuffix
	if err := h.Fetch(ctx, w, arriving); err != nil {
		return err
	}
	return h.Rename(arriving, c.staged())
}

// isComplete reports whether a file has the right length and, in a walk from the start, the right
// bytes. It then also restores the modification time.
func (h *harvest) isComplete(ctx context.Context, name string, w fetch.File) (bool, error) {
	if !h.HasFile(name, w.Bytes) {
		return false, nil
	}
	if h.state.FromStart {
		digest, err := fetch.Digest(ctx, h.Root, name)
		if err != nil || digest != w.Digest {
			return false, ctx.Err()
		}
		if err := h.Change(func() error { return h.Root.Chtimes(name, w.Modified, w.Modified) }); err != nil {
			return false, err
		}
	}
	h.Meter.Skipped(w.Bytes)
	return true, nil
}
