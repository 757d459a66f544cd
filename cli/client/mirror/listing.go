package mirror

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// All is the listing of all resources that the caller may read.
const All = "all"

// listing returns the listing that ref names, as the URL of its first page, relative to the base
// URL.
func listing(ctx context.Context, c *client.Client, ref string) (string, error) {
	if ref == All {
		return listingURL(reference.ResourceKind, nil)
	}
	a, isURL := reference.ParseAddress(ref)
	whole, query, _ := strings.Cut(ref, "?")
	given, err := url.ParseQuery(query)
	switch {
	case isURL && err != nil:
		return "", exit.Usagef("%s: %w", ref, err)
	case isURL && a.Kind == "":
		if base := strings.TrimSuffix(strings.TrimSuffix(whole, "/"), "/resources"); base == whole || !strings.EqualFold(base, c.Base()) {
			return "", exit.Usagef("%s is not the address of a listing of resources of %s", ref, c.Base())
		}
		return listingURL(reference.ResourceKind, given)
	case isURL && (a.Kind == reference.SetKind || a.Kind == reference.DataspaceKind):
		rest, _, _ := strings.Cut(a.Rest, "?")
		if rest = strings.TrimSuffix(rest, "/"); rest == "/resources" {
			ref = strings.TrimSuffix(ref, a.Rest)
		} else if rest != "" || query != "" {
			return "", exit.Usagef("%s is not the address of a listing of resources; those end with /resources", ref)
		}
	case isURL:
		return "", exit.Usagef("%s is not the address of a set, a dataspace or a listing of resources", ref)
	}
	container, err := findContainer(ctx, c, ref, a.Kind)
	if err != nil {
		return "", err
	}
	return listingURL(container+"/resources", given)
}

// findContainer returns the set or dataspace that ref names, as sets/ID or dataspaces/ID.
func findContainer(ctx context.Context, c *client.Client, ref, kind string) (string, error) {
	var s client.Set
	var d client.Dataspace
	var isSet, isDataspace bool
	var err error
	if kind != reference.SetKind {
		d, isDataspace, err = reference.LookupDataspace(ctx, c, ref)
	}
	if kind != reference.DataspaceKind && err == nil {
		s, isSet, err = reference.LookupSet(ctx, c, ref, client.Active)
	}
	switch {
	case err != nil:
		return "", err
	case isSet && isDataspace:
		return "", fmt.Errorf("%q names the dataspace %s and the set %s; give the id of the right one", ref, d.ID, s.ID)
	case isSet:
		return reference.SetKind + "/" + s.ID, nil
	case isDataspace:
		return reference.DataspaceKind + "/" + d.ID, nil
	}
	return "", reference.NotFound(ctx, c, ref, "a set or a dataspace", "give its name, id or URL, or \"all\": \"labshelf ls\" lists them")
}

// listingURL checks that a mirror can follow a listing with these parameters, and requests
// resources in all states.
func listingURL(path string, given url.Values) (string, error) {
	asked := url.Values{"state": {client.All}, "limit": {fmt.Sprint(reference.PageSize)}}
	for name, values := range given {
		value := values[0]
		switch {
		case len(values) > 1 || value == "":
			return "", exit.Usagef("the listing needs one value for %s", name)
		case name == "state" && value != client.All:
			return "", exit.Usagef("omit state=%s: a mirror needs deletions, too", value)
		case slices.Contains([]string{"order", "name", "namePrefix", "until"}, name):
			return "", exit.Usagef("omit %s: a mirror would not notice when a resource leaves such a listing", name)
		case !slices.Contains([]string{"dataspaceId", "setId", "since", "limit", "state"}, name):
			return "", exit.Usagef("omit %s: the listing can have dataspaceId, setId and since", display.Printable(name))
		case (name == "dataspaceId" || name == "setId") && (path != reference.ResourceKind || len(given["dataspaceId"])+len(given["setId"]) > 1):
			return "", exit.Usagef("name one dataspace or one set")
		}
		asked.Set(name, value)
	}
	for name, kind := range map[string]string{"dataspaceId": reference.DataspaceKind, "setId": reference.SetKind} {
		if id := asked.Get(name); id != "" { // both forms name the same listing
			asked.Del(name)
			path = kind + "/" + url.PathEscape(id) + "/resources"
		}
	}
	return path + "?" + asked.Encode(), nil
}

// listingOf returns the kind and the id of a listing's container, or reference.ResourceKind and ""
// for all resources.
func listingOf(listing string) (kind, id string) {
	path, _, _ := strings.Cut(listing, "?")
	kind, rest, _ := strings.Cut(path, "/")
	id, _, _ = strings.Cut(rest, "/")
	return kind, id
}
