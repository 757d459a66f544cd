package repository_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/repositorytest"
)

// TestPlacementRefusals: each refusal has its code and changes nothing.
func TestPlacementRefusals(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	ctx, svc := t.Context(), m.Service
	r, elsewhere, gone := m.make("a", 2), m.Upload(m.away, "e"), m.Delete(m.Upload(m.Sets[0], "gone"))
	damaged := m.Upload(m.Sets[0], "damaged damaged")
	m.OK(os.Remove(m.Path(damaged.Digest)))
	_, err := m.Content(damaged.ID)
	m.Refused(err, errs.CodeDataDamaged)
	deleted, err := svc.Sets.Create(ctx, m.Admin, containers.NewSet{Name: "deleted", DataspaceID: m.other.ID.String()})
	m.OK(err)
	_, err = svc.Sets.Delete(ctx, m.Admin, deleted.ID.String(), repositorytest.Always)
	m.OK(err)
	before := actions(t, m.Meta, 0)
	stale := core.MatchTag("old")
	unknown := metadata.NewID(1).String()
	for name, tc := range map[string]struct {
		id   string
		to   files.Destination
		code errs.Code
	}{
		"an unknown file":        {unknown, in(m.away), errs.CodeResourceNotFound},
		"an unknown set":         {r.ID.String(), files.Destination{SetID: unknown}, errs.CodeSetNotFound},
		"no set":                 {r.ID.String(), files.Destination{SetID: "x"}, errs.CodeSetNotFound},
		"a deleted set":          {r.ID.String(), in(deleted), errs.CodeParentDeleted},
		"a deleted file":         {gone.ID.String(), in(m.away), errs.CodeDeleted},
		"a name too long":        {r.ID.String(), files.Destination{Name: strings.Repeat("n", 4097)}, errs.CodeInvalidField},
		"a name with a newline":  {r.ID.String(), files.Destination{SetID: m.away.ID.String(), Name: "a\nb"}, errs.CodeInvalidField},
		"another version":        {r.ID.String(), files.Destination{SetID: m.away.ID.String(), Match: stale}, errs.CodePrecondition},
		"onto itself":            {r.ID.String(), files.Destination{Onto: r.ID.String()}, errs.CodeInvalidField},
		"onto an unknown one":    {r.ID.String(), files.Destination{Onto: unknown}, errs.CodeResourceNotFound},
		"onto one of elsewhere":  {r.ID.String(), files.Destination{Onto: elsewhere.ID.String()}, errs.CodeInvalidField},
		"onto a deleted one":     {r.ID.String(), files.Destination{Onto: gone.ID.String()}, errs.CodeDeleted},
		"a damaged file":         {damaged.ID.String(), in(m.away), errs.CodeDataDamaged},
		"a damaged one, onto":    {damaged.ID.String(), files.Destination{Onto: r.ID.String()}, errs.CodeDataDamaged},
		"from a deleted onto it": {gone.ID.String(), files.Destination{Onto: r.ID.String()}, errs.CodeDeleted},
	} {
		_, err := svc.Files.Move(ctx, m.Admin, tc.id, tc.to)
		if repositorytest.WantCode(t, err, tc.code); t.Failed() {
			t.Fatalf("move: %s", name)
		}
		_, err = svc.Files.Copy(ctx, m.Admin, tc.id, tc.to)
		if repositorytest.WantCode(t, err, tc.code); t.Failed() {
			t.Fatalf("copy: %s", name)
		}
	}
	if m.move(damaged, files.Destination{Name: "renamed"}).ID != damaged.ID {
		t.Error("a damaged file cannot be renamed")
	}
	if after := actions(t, m.Meta, uint64(len(before))); !slices.Equal(after, []string{"resource.edit"}) {
		t.Errorf("refused requests logged %q", after)
	}
}

// TestPlacementPermission: a copy requires a reader's role at the source, a move an editor's role,
// and both an editor's role at the destination.
func TestPlacementPermission(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	ctx := t.Context()
	for n, tc := range []struct {
		here, there         string // roles; "" means no role
		copies, moves, back bool
	}{
		{"", "", false, false, false}, {"", "admin", false, false, false}, {"member", "", false, false, false}, {"member", "member", false, false, false},
		{"member", "editor", true, false, false}, {"editor", "member", false, false, false}, {"editor", "editor", true, true, true}, {"admin", "", false, false, false},
	} {
		u, err := m.Service.Users.Create(ctx, m.Admin, containers.NewUser{Username: fmt.Sprint("u", n)})
		m.OK(err)
		p := auth.Principal{UserID: u.ID}
		for space, role := range map[metadata.ID]string{m.Space.ID: tc.here, m.other.ID: tc.there} {
			if role != "" {
				_, _, err := m.Service.Users.Grant(ctx, m.Admin, containers.NewPrivilege{UserID: u.ID.String(), DataspaceID: space.String(), Role: repositorytest.RoleOf(role)})
				m.OK(err)
			}
		}
		r := m.Upload(m.Sets[0], fmt.Sprint("file ", n))
		want := func(what string, err error, allowed bool) {
			t.Helper()
			if allowed {
				m.OK(err)
			} else if repositorytest.WantCode(t, err, errs.CodeForbidden); t.Failed() {
				t.Fatalf("%s by %+v", what, tc)
			}
		}
		_, err = m.Service.Files.Copy(ctx, p, r.ID.String(), in(m.away))
		want("copy", err, tc.copies)
		after, err := m.Service.Files.Move(ctx, p, r.ID.String(), in(m.away))
		want("move", err, tc.moves)
		if tc.moves {
			_, err = m.Service.Files.Move(ctx, p, after.ID.String(), in(m.Sets[0]))
			want("move back", err, tc.back)
		}
	}
}

// TestHarvestersSeeMoves: a harvester of the source set finds the deletion, a harvester of the
// destination set finds the new file, and a harvester of all sets finds both.
func TestHarvestersSeeMoves(t *testing.T) {
	t.Parallel()
	m := newMoved(t)
	r := m.Upload(m.Sets[0], "a")
	time.Sleep(2 * time.Millisecond) // the resolution of since
	since := paging.Bound{At: time.Now().Truncate(time.Millisecond).UnixMicro(), Set: true}
	changed := func(listing paging.Listing, container string) (all []string) {
		page, err := repositorytest.ListResources(t.Context(), m.Service, m.Admin, listing, core.ListRequest{
			Container: container, Selection: paging.Selection{States: paging.All, Since: since, Order: paging.Oldest},
		})
		m.OK(err)
		for _, r := range page.Items {
			all = append(all, r.ID.String()+" "+r.State.String())
		}
		return all
	}
	n := m.move(r, in(m.away))
	left, came := r.ID.String()+" deleted", n.ID.String()+" active"
	for what, tc := range map[string]struct{ got, want []string }{
		"the source set":                 {changed(paging.SetResources, m.Sets[0].ID.String()), []string{left}},
		"the destination set":            {changed(paging.SetResources, m.away.ID.String()), []string{came}},
		"the source dataspace":           {changed(paging.DataspaceResources, m.Space.ID.String()), []string{left}},
		"the destination dataspace":      {changed(paging.DataspaceResources, m.other.ID.String()), []string{came}},
		"everything, the new file first": {changed(paging.Resources, ""), []string{came, left}},
	} {
		if !slices.Equal(tc.got, tc.want) {
			t.Errorf("%s: %q, want %q", what, tc.got, tc.want)
		}
	}
}
