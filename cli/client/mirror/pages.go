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

// batchBytes bounds the bytes of files that are fetched before they get their names. A single file
// may be larger.
const batchBytes = 1 << 30

// retryMissing fetches files that earlier runs could not fetch.
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

// notReadable reports whether the caller is not allowed to read the requested object, or no longer.
func notReadable(err error) bool {
	var problem *client.Problem
	return errors.As(err, &problem) && problem.Code != "" && (problem.Status == 403 || problem.Status == 404)
}

// withMetadata requests descriptive metadata, which become part of the records. It does not change
// the identity of a listing: a mirror that was begun without it continues, and gets the metadata in
// its next walk from the start.
const withMetadata = "&fields=metadata"

// firstPage returns the URL of the first page of a listing with its parameters.
func (h *harvest) firstPage(listing string) string {
	return h.Client.Base() + "/" + listing + withMetadata
}

// isOlder reports whether a service does not know withMetadata.
func isOlder(err error) bool {
	var problem *client.Problem
	return errors.As(err, &problem) && problem.Code == "invalid_parameter" && problem.Field == "fields"
}

// walk follows the pages since the end of the last run: the pages of the listing, or of a dataspace
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
		case notReadable(err) && dataspace != "": // lost again; the next run handles that
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

// goOn sets the page at which a walk resumes: the walk of the listing, or of a dataspace.
func (s *state) goOn(dataspace, page string) {
	if dataspace == "" {
		s.Next = page
	} else {
		s.Walks[dataspace] = page
	}
}

// pageError adds the meaning for a mirror to the error of a page.
func (h *harvest) pageError(err error) error {
	var problem *client.Problem
	if errors.As(err, &problem) && problem.Code == "invalid_page_token" {
		return fmt.Errorf("%v\nthe service does not know the page at which the last run ended; check that the service is still %s, then run the command again with --from-start",
			err, h.state.Service)
	}
	return err
}

// applyRecords brings resources to the state in records, in batches; the last batch also changes
// the state with then.
func (h *harvest) applyRecords(ctx context.Context, records []client.Resource, then func(*state)) error {
	for _, r := range records {
		if !reference.IDPattern.MatchString(r.ID) || !reference.IDPattern.MatchString(r.SetID) || !reference.IDPattern.MatchString(r.DataspaceID) {
			return fmt.Errorf("invalid ids %q, %q and %q in the server's response", r.ID, r.SetID, r.DataspaceID)
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

// applyBatch fetches the files of records, commits their lines, and then renames the files.
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

// unchanged reports whether the line of a change equals the existing line.
func (c *change) unchanged() bool {
	return c.old != nil && c.new != nil && c.old.sum == checksum(c.text)
}
