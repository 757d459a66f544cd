package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"labshelf/client"
)

// compareDataspaces compares the dataspaces that the caller may read with those of the last run: a grant, a revocation or a change
// of visibility is no modification, so that no page tells of it.
func (h *harvesting) compareDataspaces(ctx context.Context) error {
	if kind, _ := listingOf(h.state.Listing); kind != resourceKind {
		return nil
	}
	now := map[string]string{}
	for d, err := range h.client.Dataspaces(ctx, client.ListOptions{State: client.All, Limit: wholePage}) {
		if err != nil {
			return err
		}
		now[d.ID] = d.Name
	}
	s := &h.state
	if s.Dataspaces == nil { // the walk begins, and brings them all
		s.Dataspaces = now
		if !s.FromStart {
			return nil
		}
	}
	var lost []string
	for id := range s.Dataspaces {
		if _, still := now[id]; !still {
			lost = append(lost, id)
		}
	}
	if len(lost) > 0 || s.FromStart {
		if err := h.sameUser(ctx); err != nil {
			return err
		}
	}
	for id, name := range now {
		if _, known := s.Dataspaces[id]; !known {
			h.discover(id, name)
		}
	}
	slices.Sort(lost)
	for _, id := range lost {
		if err := h.lose(id); err != nil {
			return err
		}
	}
	return nil
}

// sameUser refuses to take what one user may not read for what another one can no longer read.
func (h *harvesting) sameUser(ctx context.Context) error {
	me, err := h.client.Me(ctx)
	if err == nil && h.state.User != "" && me.ID != h.state.User {
		err = fmt.Errorf("%s is a mirror of what the user %s may read, and you are %s (%s); use the key of that user, or another folder",
			h.dir, h.state.User, printable(me.Username), me.ID)
	}
	return err
}

// discover has a dataspace walked through from its start.
func (h *harvesting) discover(id, name string) {
	s := &h.state
	if s.Dataspaces == nil {
		s.Dataspaces = map[string]string{}
	}
	if s.Walks == nil {
		s.Walks = map[string]string{}
	}
	_, query, _ := strings.Cut(s.Listing, "?")
	s.Dataspaces[id] = name
	s.Walks[id] = fmt.Sprintf("%s/%s/%s/resources?%s", h.client.Base(), dataspaceKind, id, query)
}

// lose removes what was in a dataspace.
func (h *harvesting) lose(id string) error {
	name := h.state.Dataspaces[id]
	n, err := h.drop(func(e *entry) bool { return e.home.dataspaceID == id }, func(s *progress) {
		delete(s.Dataspaces, id)
		delete(s.Walks, id)
	})
	if err == nil {
		h.meter.say(fmt.Sprintf("the dataspace %s can no longer be read; what it held is gone from here, too: %d resources", printable(name), n))
	}
	return err
}
