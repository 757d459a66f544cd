package mirror

import (
	"fmt"

	"labshelf/cli/display"
	"labshelf/cli/exit"
)

// report writes what the run has done. stopped is why it is incomplete, or nil.
func (h *harvest) report(stopped error) (err error) {
	s := h.state
	if h.JSON {
		err = display.WriteJSON(h.Out, struct {
			harvested
			Missing int   `json:"missing"` // files that could not be got
			Files   int   `json:"files"`   // here
			Bytes   int64 `json:"bytes"`   // in them
		}{h.counts, s.Missing, s.Files, s.Bytes})
	} else {
		err = h.counts.table(s, stopped == nil).Write(h.Out, display.Unlimited)
	}
	switch {
	case stopped != nil:
		return stopped
	case err == nil && s.Missing > 0:
		err = fmt.Errorf("%w: %s could not be got", exit.ErrPartly, display.Files(s.Missing))
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

// harvested is what a harvest has done, as --json has it.
type harvested struct {
	Fetched      int   `json:"fetched"`      // files
	FetchedBytes int64 `json:"fetchedBytes"` // in them
	Changed      int   `json:"changed"`      // records of which no file was fetched
	Deleted      int   `json:"deleted"`      // resources that were deleted, or can no longer be read
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
	case c.new.path != "": // else its file is missing
		h.counts.Changed++
	}
}
