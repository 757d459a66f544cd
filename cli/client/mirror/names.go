package mirror

import (
	"maps"
	"path"
	"slices"

	"labshelf/formats/archive"
)

// correctNames gives files the names that they would have in the order of their creation.
func (h *harvest) correctNames() error {
	if !h.state.Unsettled {
		return nil
	}
	if err := h.loadIndex(); err != nil {
		return err
	}
	right := h.correctPaths()
	if right == nil {
		return nil
	}
	var changes []*change
	for _, id := range slices.Sorted(maps.Keys(h.index)) {
		e := h.index[id]
		if e.path == "" || e.path == right[id] {
			continue
		}
		b, r, err := h.readLine(e)
		if err != nil {
			return err
		}
		to := *e
		to.path, b.Path = right[id], right[id]
		c := &change{id: id, old: e, new: &to, modified: r.Modified.Time}
		if c.text, err = encodeLine(b, r); err != nil {
			return err
		}
		changes = append(changes, c)
	}
	if len(changes) == 0 {
		return nil
	}
	if err := h.Mkdir(incomingName); err != nil {
		return err
	}
	if err := h.appendLines(changes, func(*state) {}); err != nil {
		return err
	}
	return h.apply(changes, h.Meter.Say)
}

// correctPaths returns the correct paths of all files by the ids of their resources, or nil if all
// paths are correct.
func (h *harvest) correctPaths() map[string]string {
	clear, right, paths := true, map[string]string{}, archive.NewPaths()
	for id, e := range h.index {
		if e.path != "" && e.path != filesName+"/"+archive.Clean(e.container.fullName(id, e.name)) {
			clear = false
			break
		}
	}
	if clear { // no two files have the same name
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(h.index)) {
		if e := h.index[id]; e.path != "" {
			right[id] = path.Join(filesName, paths.Give(id, e.container.fullName(id, e.name)))
		}
	}
	return right
}
