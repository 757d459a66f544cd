package mirror

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"labshelf/client"
	"labshelf/commands/display"
	"labshelf/commands/reference"
)

// compareDataspaces compares the dataspaces that the caller may read with those of the last run: a grant, a revocation and a change
// of visibility are no modifications, so that no page contains them.
func (h *harvest) compareDataspaces(ctx context.Context) error {
	if kind, _ := listingOf(h.state.Listing); kind != reference.ResourceKind {
		return nil
	}
	now := map[string]string{}
	for d, err := range h.Client.Dataspaces(ctx, client.ListOptions{State: client.All, Limit: reference.PageSize}) {
		if err != nil {
			return err
		}
		now[d.ID] = d.Name
	}
	s := &h.state
	if s.Dataspaces == nil { // the walk begins, and covers them all
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
			h.addDataspace(id, name)
		}
	}
	slices.Sort(lost)
	for _, id := range lost {
		if err := h.dropDataspace(id); err != nil {
			return err
		}
	}
	return nil
}

// sameUser refuses to go on as another user: what that user may not read would be taken for lost.
func (h *harvest) sameUser(ctx context.Context) error {
	me, err := h.Client.Me(ctx)
	if err == nil && h.state.User != "" && me.ID != h.state.User {
		err = fmt.Errorf("%s is a mirror of what the user %s may read, and you are %s (%s); use the key of that user, or another folder",
			h.dir, h.state.User, display.Printable(me.Username), me.ID)
	}
	return err
}

// addDataspace schedules a walk through a dataspace from its start.
func (h *harvest) addDataspace(id, name string) {
	s := &h.state
	if s.Dataspaces == nil {
		s.Dataspaces = map[string]string{}
	}
	if s.Walks == nil {
		s.Walks = map[string]string{}
	}
	_, query, _ := strings.Cut(s.Listing, "?")
	s.Dataspaces[id] = name
	s.Walks[id] = h.firstPage(fmt.Sprintf("%s/%s/resources?%s", reference.DataspaceKind, id, query))
}
