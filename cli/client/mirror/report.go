package mirror

import (
	"fmt"

	"labshelf/cli/display"
	"labshelf/cli/exit"
)

// report writes the results of the run. stopped is the reason if it is incomplete, otherwise nil.
func (h *harvest) report(stopped error) (err error) {
	s := h.state
	if h.JSON {
		err = display.WriteJSON(h.Out, struct {
			harvested
			Missing int   `json:"missing"` // files that could not be downloaded
			Files   int   `json:"files"`   // files in the mirror
			Bytes   int64 `json:"bytes"`   // bytes of these files
		}{h.counts, s.Missing, s.Files, s.Bytes})
	} else {
		err = h.counts.table(s, stopped == nil).Write(h.Out, display.Unlimited)
	}
	switch {
	case stopped != nil:
		return stopped
	case err == nil && s.Missing > 0:
		err = fmt.Errorf("%w: %s could not be downloaded", exit.ErrPartly, display.Files(s.Missing))
	}
	return err
}

func (c harvested) table(s state, whole bool) *display.Table {
	t := &display.Table{}
	if c == (harvested{}) && whole {
		t.Add("changed", "nothing")
	}
	if c.Fetched > 0 {
		t.Add("fetched", display.Files(c.Fetched)+", "+display.Bytes(c.FetchedBytes))
	}
	if c.Changed > 0 {
		t.Add("changed", fmt.Sprintf("%d without a new file", c.Changed))
	}
	if c.Deleted > 0 {
		t.Add("deleted", fmt.Sprint(c.Deleted))
	}
	if whole && s.Missing > 0 {
		t.Add("missing", display.Files(s.Missing))
	}
	if whole {
		t.Add("here", display.Files(s.Files)+", "+display.Bytes(s.Bytes))
	}
	return t
}

// harvested is the result of a harvest in --json.
type harvested struct {
	Fetched      int   `json:"fetched"`      // files
	FetchedBytes int64 `json:"fetchedBytes"` // bytes of these files
	Changed      int   `json:"changed"`      // records that changed without a fetched file
	Deleted      int   `json:"deleted"`      // resources that were deleted, or are no longer readable
}

func (h *harvest) count(c *change) {
	switch {
	case c.new == nil || !c.new.active:
		if c.old == nil || c.old.active {
			h.counts.Deleted++
		} else {
			h.counts.Changed++
		}
	case h.Exists(c.staged()):
		h.counts.Fetched++
		h.counts.FetchedBytes += c.new.bytes
	case c.new.path != "": // otherwise its file is missing
		h.counts.Changed++
	}
}
