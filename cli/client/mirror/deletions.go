package mirror

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// fewDeletions is how many files a run removes without confirmation, whatever their share of the
// mirror.
const fewDeletions = 5

// tooMany reports whether removing n of total files requires confirmation: more than a tenth unless
// they are few, or all of several.
func tooMany(removed, total int) bool {
	return removed > fewDeletions && removed > total/10 || removed > 1 && removed == total
}

// deletions are the files that a run will remove, and has removed.
type deletions struct {
	counted  bool
	total    int // files that existed before the run
	expected int // files to remove, counted before any removal
	moved    int // files to remove that reappear under another id
	removed  int // removed files
	why      []string

	ahead []client.Page[client.Resource] // pages of the walk that were read for the count
}

// maxAhead bounds the pages that are kept from the count for the walk. Further pages are read
// again.
const maxAhead = 20

// fate is the state of a resource according to the pages.
type fate int

const (
	unknown fate = iota
	present
	deleted
	moved // to a set that the pages contain
)

// checkLost counts the files that the run would remove, if dataspaces are lost or if a walk from
// the start removes all files that it does not meet. Otherwise the walk counts them at the first
// deletion.
func (h *harvest) checkLost(ctx context.Context, lost []string) error {
	if h.AcceptDeletions || h.state.Metadata.Bytes == 0 || len(lost) == 0 && !h.state.FromStart { // or the mirror is empty
		return nil
	}
	fates, err := h.readAhead(ctx, nil)
	if err != nil {
		return err
	}
	return h.countDeletions(fates, lost)
}

// checkPage counts the files that the run would remove, as soon as a page of the walk contains the
// deletion of a file.
func (h *harvest) checkPage(ctx context.Context, page client.Page[client.Resource]) error {
	deletes := func(r client.Resource) bool {
		e := h.index[r.ID]
		return r.State != client.Active && e != nil && e.path != ""
	}
	if h.AcceptDeletions || h.counted || !slices.ContainsFunc(page.Data, deletes) {
		return nil
	}
	fates, err := h.readAhead(ctx, &page)
	if err != nil {
		return err
	}
	return h.countDeletions(fates, nil)
}

// countDeletions returns an error if too many files have such a fate, or belong to lost dataspaces.
// At this point nothing has been removed, so the next run gets the same count.
func (h *harvest) countDeletions(fates map[string]fate, lost []string) error {
	if err := h.loadIndex(); err != nil {
		return err
	}
	d, reasons := &h.deletions, map[string]int{}
	d.counted = true
	for id, e := range h.index {
		if e.path == "" {
			continue
		}
		d.total++
		switch space := e.container.dataspaceID; {
		case slices.Contains(lost, space):
			reasons["of the dataspace "+display.Printable(h.state.Dataspaces[space])+", which can no longer be read"]++
		case fates[id] == moved:
			d.moved++
			continue
		case fates[id] == deleted:
			reasons["deleted or moved on the service"]++
		case fates[id] == unknown && h.state.FromStart:
			reasons["no longer in the listing"]++
		default:
			continue
		}
		d.expected++
	}
	for reason, n := range reasons {
		d.why = append(d.why, fmt.Sprintf("%d %s", n, reason))
	}
	slices.Sort(d.why)
	if tooMany(d.expected, d.total) {
		return h.heldError(d.expected)
	}
	return nil
}

// readAhead reads the pages after a page, or all pages since the end of the last run, and returns
// the fate of their resources.
func (h *harvest) readAhead(ctx context.Context, after *client.Page[client.Resource]) (map[string]fate, error) {
	fates, movedTo := map[string]fate{}, map[string]string{}
	see := func(page client.Page[client.Resource]) {
		for _, r := range page.Data {
			fates[r.ID] = present
			if r.State != client.Active {
				fates[r.ID], movedTo[r.ID] = deleted, r.MovedTo
			}
		}
	}
	from := h.state.Next
	if after != nil {
		see(*after)
		from = after.Next
	}
	for page, err := range client.Pages[client.Resource](ctx, h.Client, from) {
		plain, asked := strings.CutSuffix(h.state.Next, withMetadata)
		if after == nil && asked && isOlder(err) {
			h.state.Next = plain
			return h.readAhead(ctx, nil)
		}
		if err != nil {
			return nil, h.pageError(err)
		}
		if len(h.ahead) < maxAhead {
			h.ahead = append(h.ahead, page)
		}
		see(page)
	}
	for id, to := range movedTo {
		arrived := h.index[to] // with an earlier page
		if fates[id] == deleted && (fates[to] == present || arrived != nil && arrived.active) {
			fates[id] = moved
		}
	}
	return fates, nil
}

// pages yields the pages of a walk. It uses the pages that were read ahead, but requests the last
// of them again, because it may have changed while files were fetched.
func (h *harvest) pages(ctx context.Context, dataspace, from string) iter.Seq2[client.Page[client.Resource], error] {
	return func(yield func(client.Page[client.Resource], error) bool) {
		for first := true; ; first = false {
			var page client.Page[client.Resource]
			var err error
			if dataspace == "" && len(h.ahead) > 0 && (first || !h.ahead[0].End) {
				page, h.ahead = h.ahead[0], h.ahead[1:]
			} else {
				h.ahead = nil
				page, err = client.FetchPage[client.Resource](ctx, h.Client, from)
			}
			if !yield(page, err) || err != nil || page.End {
				return
			}
			from = page.Next
		}
	}
}

// mayRemove counts the files that changes remove. It returns an error if the service now lists more
// deletions than were counted, and they are too many.
func (h *harvest) mayRemove(changes []*change) error {
	d, n := &h.deletions, 0
	for _, c := range changes {
		if c.old != nil && c.old.path != "" && (c.new == nil || !c.new.active) {
			n++
		}
	}
	surplus := d.removed + n - d.moved
	if !h.AcceptDeletions && surplus > d.expected && d.total > 0 && tooMany(surplus, d.total) {
		d.why = []string{"deleted, or no longer readable, since this run began"}
		return h.heldError(surplus)
	}
	d.removed += n
	return nil
}

func (h *harvest) heldError(n int) error {
	return fmt.Errorf("%w: %d of the %d files in %s would be removed (%s)\nno file was removed; if the deletions are right, run the command again with --accept-deletions",
		exit.ErrHeld, n, h.deletions.total, h.dir, strings.Join(h.deletions.why, "; "))
}
