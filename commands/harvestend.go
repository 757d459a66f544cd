package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"labshelf/archive"
)

// dropUnseen removes what was not in a walk from the start.
func (h *harvesting) dropUnseen() error {
	if !h.state.FromStart {
		return nil
	}
	if err := h.indexed(); err != nil {
		return err
	}
	_, err := h.drop(func(e *entry) bool { return !e.seen }, func(s *progress) { s.FromStart = false })
	if err != nil {
		return err
	}
	return h.sweep()
}

// drop removes resources, as if they had never been here.
func (h *harvesting) drop(those func(*entry) bool, then func(*progress)) (n int, err error) {
	if err := h.indexed(); err != nil {
		return 0, err
	}
	var changes []*change
	for _, id := range sortedIDs(h.index) {
		if e := h.index[id]; those(e) {
			c := &change{id: id, old: e, text: fmt.Appendf(nil, `{"id":%q,"dropped":true}`, id)}
			changes = append(changes, c)
			h.count(c)
		}
	}
	if err := h.mkdir(incomingName); err != nil {
		return 0, err
	}
	if err := h.write(changes, then); err != nil {
		return 0, err
	}
	return len(changes), h.apply(changes, h.meter.say)
}

// sweep moves to the strays what is among the files and not of the mirror.
func (h *harvesting) sweep() error {
	ours := map[string]bool{}
	for _, e := range h.index {
		if e.path != "" {
			ours[e.path] = true
			above(ours, e.path)
		}
	}
	var strays []string
	err := fs.WalkDir(h.root.FS(), filesName, func(name string, d fs.DirEntry, err error) error {
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
		return disk(err)
	}
	for _, name := range strays {
		if err := h.strayed(name, false, h.meter.say); err != nil {
			return err
		}
	}
	return nil
}

// settle gives the files the names that they would have if they had come in the order of their creation.
func (h *harvesting) settle() error {
	if !h.state.Unsettled {
		return nil
	}
	if err := h.indexed(); err != nil {
		return err
	}
	right := h.settled()
	if right == nil {
		return nil
	}
	var changes []*change
	for _, id := range sortedIDs(h.index) {
		e := h.index[id]
		if e.path == "" || e.path == right[id] {
			continue
		}
		b, r, err := h.line(e)
		if err != nil {
			return err
		}
		to := *e
		to.path, b.Path = right[id], right[id]
		c := &change{id: id, old: e, new: &to, modified: r.Modified}
		if c.text, err = encoded(b, r); err != nil {
			return err
		}
		changes = append(changes, c)
	}
	if len(changes) == 0 {
		return nil
	}
	if err := h.mkdir(incomingName); err != nil {
		return err
	}
	if err := h.write(changes, func(*progress) {}); err != nil {
		return err
	}
	return h.apply(changes, h.meter.say)
}

// settled returns the right paths of all files by the ids of their resources, nil where they have them.
func (h *harvesting) settled() map[string]string {
	clear, right, paths := true, map[string]string{}, archive.NewPaths()
	for id, e := range h.index {
		if e.path != "" && e.path != filesName+"/"+archive.Clean(e.home.full(id, e.name)) {
			clear = false
			break
		}
	}
	if clear { // no two want the same
		return nil
	}
	for _, id := range sortedIDs(h.index) {
		if e := h.index[id]; e.path != "" {
			right[id] = path.Join(filesName, paths.Give(id, e.home.full(id, e.name)))
		}
	}
	return right
}

// finish leaves the mirror tidy and says in its state what there is.
func (h *harvesting) finish() error {
	if err := h.settle(); err != nil {
		return err
	}
	if h.index == nil {
		return h.clear()
	}
	s := &h.state
	s.Unsettled, s.Missing, s.Files, s.Bytes, s.Deleted = false, 0, 0, 0, 0
	for _, e := range h.index {
		switch {
		case !e.active:
			s.Deleted++
		case e.path == "":
			s.Missing++
		default:
			s.Files++
			s.Bytes += e.bytes
		}
	}
	err := h.writeState()
	if err == nil && h.wasteful() {
		err = h.compact()
	}
	if err == nil {
		err = h.clear()
	}
	return err
}
