package mirror

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"labshelf/cli/client/fetch"
	"labshelf/cli/client/reference"
	"labshelf/client"
)

// batchBytes bounds the files that are fetched before they get their names, in bytes, unless it is
// a single file.
const batchBytes = 1 << 30

// retryMissing fetches the files that earlier runs could not fetch.
func (h *harvest) retryMissing(ctx context.Context) error {
	if h.state.Missing == 0 || h.state.FromStart {
		return nil
	}
	if err := h.loadIndex(); err != nil {
		return err
	}
	var records []client.Resource
	for _, id := range slices.Sorted(maps.Keys(h.index)) {
		if e := h.index[id]; e.active && e.path == "" {
			r, err := h.Client.Resources.Get(ctx, id)
			if err != nil && !notReadable(err) {
				return err
			}
			if err == nil {
				records = append(records, r)
			}
		}
	}
	return h.applyRecords(ctx, records, func(*state) {})
}

// notReadable tells whether the caller may not, or no longer, read what was asked for.
func notReadable(err error) bool {
	var problem *client.Problem
	return errors.As(err, &problem) && problem.Code != "" && (problem.Status == 403 || problem.Status == 404)
}

// withMetadata asks a listing for the descriptive metadata, which become part of the records. It is
// no part of which listing that is: a mirror that was begun without goes on, and gets them from the
// next walk from the start on.
const withMetadata = "&fields=metadata"

// firstPage returns the URL of the first page of a listing, which has parameters.
func (h *harvest) firstPage(listing string) string {
	return h.Client.Base() + "/" + listing + withMetadata
}

// isOlder tells whether a service does not know withMetadata.
func isOlder(err error) bool {
	var problem *client.Problem
	return errors.As(err, &problem) && problem.Code == "invalid_parameter" && problem.Field == "fields"
}

// walk follows the pages from where the last run stopped: those of the listing, or of a dataspace
// that has become readable.
func (h *harvest) walk(ctx context.Context, dataspace string) error {
	from := h.state.Next
	if dataspace != "" {
		from = h.state.Walks[dataspace]
	}
	for page, err := range h.pages(ctx, dataspace, from) {
		plain, asked := strings.CutSuffix(from, withMetadata)
		switch {
		case asked && isOlder(err):
			h.state.goOn(dataspace, plain)
			return h.walk(ctx, dataspace)
		case notReadable(err) && dataspace != "": // it was lost again; the next run notices
			delete(h.state.Walks, dataspace)
			return nil
		case err != nil:
			return h.pageError(err)
		case page.End:
			delete(h.state.Walks, dataspace)
			return nil
		}
		if err := h.loadIndex(); err != nil {
			return err
		}
		if err := h.checkPage(ctx, page); err != nil {
			return err
		}
		if err := h.applyRecords(ctx, page.Data, func(s *state) { s.goOn(dataspace, page.Next) }); err != nil {
			return err
		}
	}
	return nil
}

// goOn has a walk go on at a page: that of the listing, or that of a dataspace.
func (s *state) goOn(dataspace, page string) {
	if dataspace == "" {
		s.Next = page
	} else {
		s.Walks[dataspace] = page
	}
}

// pageError adds to an error of a page what it means for a mirror.
func (h *harvest) pageError(err error) error {
	var problem *client.Problem
	if errors.As(err, &problem) && problem.Code == "invalid_page_token" {
		return fmt.Errorf("%v\nthe service does not know the page at which the last run has ended: is it another one than %s? Should it be the right one, run it again with --from-start",
			err, h.state.Service)
	}
	return err
}

// applyRecords brings resources to the state that records say, in batches; the last one changes the
// state by then, too.
func (h *harvest) applyRecords(ctx context.Context, records []client.Resource, then func(*state)) error {
	for _, r := range records {
		if !reference.IDPattern.MatchString(r.ID) || !reference.IDPattern.MatchString(r.SetID) || !reference.IDPattern.MatchString(r.DataspaceID) {
			return fmt.Errorf("the service gave %q, %q and %q for ids, which no labshelf does", r.ID, r.SetID, r.DataspaceID)
		}
		if r.State == client.Active {
			h.Meter.Expect(1, r.Bytes)
		}
	}
	for len(records) > 0 {
		n, bytes := 1, records[0].Bytes
		for n < len(records) && bytes+records[n].Bytes <= batchBytes {
			bytes += records[n].Bytes
			n++
		}
		last := func(*state) {}
		if n == len(records) {
			last = then
		}
		if err := h.applyBatch(ctx, records[:n], last); err != nil {
			return err
		}
		records = records[n:]
	}
	return nil
}

// applyBatch fetches the files of records, commits their lines, and then gives the files their
// names.
func (h *harvest) applyBatch(ctx context.Context, records []client.Resource, then func(*state)) error {
	brought := make([]*change, len(records))
	if err := h.Mkdir(incomingName); err != nil {
		return err
	}
	err := fetch.Each(ctx, h.Parallel, len(records), func(ctx context.Context, i int) (err error) {
		brought[i], err = h.fetchResource(ctx, records[i])
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
		if c.new.seen = true; !c.unchanged() || h.Exists(c.staged()) {
			changes = append(changes, c)
			h.count(c)
		}
	}
	if err := h.mayRemove(changes); err != nil {
		return err
	}
	if err := h.appendLines(changes, then); err != nil {
		return err
	}
	return h.apply(changes, h.Meter.Say)
}

// unchanged tells whether the line of a change is the one that is there.
func (c *change) unchanged() bool {
	return c.old != nil && c.new != nil && c.old.sum == checksum(c.text)
}
