package handlers_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"labshelf/handlers"
	"labshelf/repository"
)

// filter is a filter of a listing by an object, with the expected result for each caller of the
// permission table.
type filter struct {
	shown string // its row in docs/reference/permissions.md
	path  func(f *fixture, other *fixture) string
	none  string // result for a caller without a role in a private dataspace: yes, 403 or 404
	roles string // result for callers with a role, and in a public dataspace for all callers
}

// filters returns the filters of listings. The other fixture is a private dataspace that only the
// sysadmin may read.
func filters() []filter {
	return []filter{
		{"GET /resources?dataspaceId={id}", func(f, _ *fixture) string { return "/resources?dataspaceId=" + f.dataspace }, "403", "yes"},
		{"GET /resources?setId={id}", func(f, _ *fixture) string { return "/resources?setId=" + f.ids["SetId"] }, "403", "yes"},
		{"GET /resources?dataspaceId={id}&setId={id of a set in it}", func(f, _ *fixture) string {
			return "/resources?dataspaceId=" + f.dataspace + "&setId=" + f.ids["SetId"]
		}, "403", "yes"},
		{"GET /resources?dataspaceId={id}&setId={id of a set elsewhere}", func(f, other *fixture) string {
			return "/resources?dataspaceId=" + f.dataspace + "&setId=" + other.ids["SetId"]
		}, "404", "404"},
		{"GET /sets?dataspaceId={id}", func(f, _ *fixture) string { return "/sets?dataspaceId=" + f.dataspace }, "403", "yes"},
		{"GET /sets?name={name}", func(f, _ *fixture) string {
			return "/sets?name=" + f.get("/sets/"+f.ids["SetId"]).object().text("name")
		}, "yes", "yes"},
		{"GET /dataspaces?name={name}", func(f, _ *fixture) string {
			return "/dataspaces?name=" + f.get("/dataspaces/"+f.dataspace).object().text("name")
		}, "yes", "yes"},
		{"GET /privileges?dataspaceId={id}&userId={id}", func(f, _ *fixture) string {
			return "/privileges?dataspaceId=" + f.dataspace + "&userId=" + f.ids["UserId"]
		}, "yes", "yes"},
	}
}

// cell returns the expected result for a caller.
func (fl filter) cell(column string) string {
	switch column {
	case "nobody", "anonymous":
		return "401"
	case "none":
		return fl.none
	}
	return fl.roles
}

// TestPermissionsOfFilters tries every filter as every caller. A missing object gives 404 for every
// caller.
func TestPermissionsOfFilters(t *testing.T) {
	t.Parallel()
	own := ownGateway(t, repository.Config{Anonymous: true}, handlers.Config{})
	other := own.newFixture(nil)
	for name, newCaller := range callers() {
		f := own.newFixture(visibilityFor(name))
		caller := newCaller(f)
		for _, fl := range filters() {
			a := caller.bad("GET", fl.path(f, other), nil)
			switch fl.cell(strings.Replace(name, "foreign", "none", 1)) {
			case "yes":
				a.want(http.StatusOK)
			case "401":
				a.problem(http.StatusUnauthorized, "unauthenticated", "")
			case "403":
				a.problem(http.StatusForbidden, "forbidden", "")
			case "404":
				a.problem(http.StatusNotFound, "set_not_found", "setId")
			}
		}
	}
}

// TestFilterByUnknownObjects tests that unknown objects are reported before missing permissions.
func TestFilterByUnknownObjects(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	stranger := s.newUser(nil)
	stranger.get("/resources?dataspaceId="+s.dataspace+"&setId=nonsense").problem(http.StatusNotFound, "set_not_found", "setId")
	stranger.get("/resources?dataspaceId=nonsense&setId="+s.newSet()).problem(http.StatusNotFound, "dataspace_not_found", "dataspaceId")
}

// TestFilterBeforeParameters tests that unknown objects and missing permissions are reported before
// malformed parameters, and malformed ids before other malformed parameters.
func TestFilterBeforeParameters(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	stranger, set := s.newUser(nil), s.newSet()
	stranger.bad("GET", "/sets/nonsense/resources?limit=0", nil).problem(http.StatusNotFound, "set_not_found", "")
	stranger.bad("GET", "/sets/"+set+"/resources?limit=0", nil).problem(http.StatusForbidden, "forbidden", "")
	stranger.bad("GET", "/resources?fields=x&other=y&setId=nonsense", nil).problem(http.StatusNotFound, "set_not_found", "setId")
	stranger.bad("GET", "/resources?fields=x&other=y&setId="+set, nil).problem(http.StatusForbidden, "forbidden", "")
	stranger.bad("GET", "/links?dataspaceId="+s.dataspace+"&limit=0", nil).problem(http.StatusForbidden, "forbidden", "")
	s.bad("GET", "/resources?fields=x&other=y&setId="+set, nil).problem(http.StatusBadRequest, "invalid_parameter", "fields")
	s.bad("GET", "/resources?fields=x&setId="+set+"&setId="+set, nil).problem(http.StatusBadRequest, "invalid_parameter", "setId")
	s.bad("GET", "/resources?fields=x&setId=", nil).problem(http.StatusBadRequest, "invalid_parameter", "setId")
}

// filtersTable returns the table of filters for docs/reference/permissions.md.
func filtersTable(columns []string) string {
	var table strings.Builder
	table.WriteString(`
## Filters

Filters of listings that name an object:

| request | no key | no key, open | no role, private | no role, public | member | editor | admin | sysadmin |
|---|---|---|---|---|---|---|---|---|
`)
	for _, fl := range filters() {
		fmt.Fprintf(&table, "| `%s` |", fl.shown)
		for cell := range slices.Values(columns) {
			table.WriteString(" " + fl.cell(cell) + " |")
		}
		table.WriteString("\n")
	}
	return table.String()
}
