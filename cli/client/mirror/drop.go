package mirror

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"labshelf/cli/client/fetch"
	"labshelf/cli/display"
)

// dropUnseen removes resources that a walk from the start has not met.
func (h *harvest) dropUnseen() error {
	if !h.state.FromStart {
		return nil
	}
	if err := h.loadIndex(); err != nil {
		return err
	}
	_, err := h.drop(func(e *entry) bool { return !e.seen }, func(s *state) { s.FromStart = false })
	if err != nil {
		return err
	}
	return h.moveStrays()
}

// drop removes resources, as if they had never been in the mirror, and counts them.
func (h *harvest) drop(those func(*entry) bool, then func(*state)) (n int, err error) {
	if err := h.loadIndex(); err != nil {
		return 0, err
	}
	var changes []*change
	for _, id := range slices.Sorted(maps.Keys(h.index)) {
		if e := h.index[id]; those(e) {
			c := &change{id: id, old: e, text: fmt.Appendf(nil, `{"id":%q,"dropped":true}`, id)}
			changes = append(changes, c)
			h.count(c)
		}
	}
	if err := h.mayRemove(changes); err != nil {
		return 0, err
	}
	if err := h.Mkdir(incomingName); err != nil {
		return 0, err
	}
	if err := h.appendLines(changes, then); err != nil {
		return 0, err
	}
	return len(changes), h.apply(changes, h.Meter.Say)
}

// moveStrays moves files that do not belong to the mirror to the strays.
func (h *harvest) moveStrays() error {
	ours := map[string]bool{}
	for _, e := range h.index {
		if e.path != "" {
			ours[e.path] = true
			fetch.AddParents(ours, e.path)
		}
	}
	var strays []string
	err := fs.WalkDir(h.Root.FS(), filesName, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), name == filesName:
			return nil
		case err != nil:
			return err
		case ours[name]:
			return nil
		}
		strays = append(strays, name)
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return fetch.DiskError(err)
	}
	for _, name := range strays {
		if err := h.moveStray(name, false, h.Meter.Say); err != nil {
			return err
		}
	}
	return nil
}

// dropDataspace removes the resources of a dataspace.
func (h *harvest) dropDataspace(id string) error {
	name := h.state.Dataspaces[id]
	n, err := h.drop(func(e *entry) bool { return e.container.dataspaceID == id }, func(s *state) {
		delete(s.Dataspaces, id)
		delete(s.Walks, id)
	})
	if err == nil {
		h.Meter.Say(fmt.Sprintf("the dataspace %s is no longer readable; its %d resources were removed from the mirror", display.Printable(name), n))
	}
	return err
}
