package reference

import (
	"context"
	"strings"

	"labshelf/client"
)

// FindAny returns the dataspace, set or resource that ref names, in this order of precedence.
func FindAny(ctx context.Context, c *client.Client, ref string) (*client.Dataspace, *client.Set, *client.Resource, error) {
	a, _ := ParseAddress(ref)
	_, _, inSet := SetAddress(ref)
	if a.Kind == "" || a.Kind == DataspaceKind {
		if d, found, err := LookupDataspace(ctx, c, ref); found || err != nil {
			return &d, nil, nil, err
		}
	}
	if a.Kind == "" || a.Kind == SetKind && !inSet {
		if s, found, err := LookupSet(ctx, c, ref, client.Active); found || err != nil {
			return nil, &s, nil, err
		}
	}
	r, found, err := LookupResource(ctx, c, ref, client.Active)
	if err == nil && !found {
		err = NotFound(ctx, c, ref, "a dataspace, set or resource", "\"labshelf ls\" and \"labshelf set ls\" list the existing ones")
	}
	return nil, nil, &r, err
}

// LookupFolder finds a set, or a folder of a set if the reference ends in a slash. The path of the
// folder ends in a slash; "" is the set.
func LookupFolder(ctx context.Context, c *client.Client, ref string) (s client.Set, folder string, found bool, err error) {
	if set, folder, ok := FolderAddress(ref); ok {
		s, err = FindSet(ctx, c, set, client.Active)
		return s, folder, err == nil, err
	}
	path, within := strings.CutSuffix(ref, "/")
	elements := strings.Split(path, "/")
	for named := min(2, len(elements)); named > 0; named-- { // elements that name the set, with its dataspace or without
		if !within && named < len(elements) {
			continue
		}
		s, found, err = LookupSet(ctx, c, strings.Join(elements[:named], "/"), client.Active)
		if found && named < len(elements) {
			folder = strings.Join(elements[named:], "/") + "/"
		}
		if found || err != nil {
			return s, folder, found, err
		}
	}
	return s, "", false, nil
}
