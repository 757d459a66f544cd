package mirror

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/client"
)

// listDataspaces returns the dataspaces that the caller may read, and dataspaces of the last run
// that are no longer among them. A grant, a revocation and a change of visibility appear on no
// page. For other listings than the listing of all, it returns nothing.
func (h *harvest) listDataspaces(ctx context.Context) (now map[string]string, lost []string, err error) {
	if kind, _ := listingOf(h.state.Listing); kind != reference.ResourceKind {
		return nil, nil, nil
	}
	now = map[string]string{}
	for d, err := range h.Client.Dataspaces.List(ctx, client.ListOptions{State: client.All, Limit: reference.PageSize}) {
		if err != nil {
			return nil, nil, err
		}
		now[d.ID] = d.Name
	}
	for id := range h.state.Dataspaces {
		if _, still := now[id]; !still {
			lost = append(lost, id)
		}
	}
	slices.Sort(lost)
	if len(lost) > 0 || h.state.FromStart {
		err = h.sameUser(ctx)
	}
	return now, lost, err
}

// followDataspaces schedules walks through the dataspaces that have become readable, and removes
// the lost ones.
func (h *harvest) followDataspaces(now map[string]string, lost []string) error {
	s := &h.state
	if s.Dataspaces == nil && now != nil { // the walk begins, and covers all of them
		s.Dataspaces = now
	}
	for id, name := range now {
		if _, known := s.Dataspaces[id]; !known {
			h.addDataspace(id, name)
		}
	}
	for _, id := range lost {
		if err := h.dropDataspace(id); err != nil {
			return err
		}
	}
	return nil
}

// sameUser returns an error if another user made the mirror: resources that this user is not
// allowed to read would count as lost.
func (h *harvest) sameUser(ctx context.Context) error {
	me, err := h.Client.Users.Me(ctx)
	if err == nil && h.state.User != "" && me.ID != h.state.User {
		err = fmt.Errorf("%s mirrors the resources that the user %s may read, but you are %s (%s); use the key of that user, or another folder",
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
