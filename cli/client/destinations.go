package client

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// destination parses the second argument of cp or mv. As with the system's cp, a set or a folder,
// which ends in a slash, receives the resource under its own name. Other text is the new name, in
// the same set or, as SET:NAME, in another one.
func (f *placementFlags) destination(ctx context.Context, c *client.Client, ref, to string, r client.Resource) error {
	verb := "cp"
	if f.move {
		verb = "mv"
	}
	if isLocal(to) {
		return exit.Usagef("%q is a path on this machine; to get the file: labshelf get %s %s", to, quoted(ref), quoted(to))
	}
	if reference.Empty(to) {
		return exit.Usagef("%q is not a name", to)
	}
	set, name, err := splitDestination(ctx, c, to)
	if err != nil {
		return err
	}
	if set.ID == "" {
		if err := refuseContainer(ctx, c, verb, ref, to, r); err != nil {
			return err
		}
	}
	if strings.HasSuffix(name, "/") {
		name += path.Base(r.Name)
	}
	if err := reference.CheckName("the new name", name); name != "" && err != nil {
		return err
	}
	if set.ID != r.SetID {
		f.set = set
	}
	f.name = name
	return nil
}

// isLocal reports whether a text can only be a local path.
func isLocal(text string) bool {
	first, _, _ := strings.Cut(filepath.ToSlash(text), "/")
	return slices.Contains([]string{".", "..", "", "~"}, first) || filepath.IsAbs(text) || filepath.VolumeName(text) != ""
}

// splitDestination parses URL, DATASPACE/SET, SET: and SET:NAME. If text is only a name, the set
// has no id; if text is a set, the name is "".
func splitDestination(ctx context.Context, c *client.Client, text string) (set client.Set, name string, err error) {
	if set, name, ok := reference.SetAddress(text); ok {
		s, err := reference.FindSet(ctx, c, set, client.Active)
		return s, name, err
	}
	if _, isURL := reference.ParseAddress(text); isURL {
		set, err = reference.FindSet(ctx, c, text, client.Active)
		return set, "", err
	}
	for i := range len(text) { // titles and names may contain colons
		if text[i] != ':' || i == 0 {
			continue
		}
		set, found, err := reference.LookupSet(ctx, c, text[:i], client.Active)
		if found || err != nil {
			return set, text[i+1:], err
		}
	}
	if space, within, ok := strings.Cut(strings.TrimSuffix(text, "/"), "/"); ok && !strings.Contains(within, "/") {
		d, found, err := reference.LookupDataspace(ctx, c, space)
		if err != nil || !found {
			return set, text, err
		}
		set, err = reference.FindSet(ctx, c, d.Name+"/"+within, client.Active)
		return set, "", err
	}
	return set, text, nil
}

// refuseContainer rejects a new name that is the name of a set or dataspace, since the user
// probably means that.
func refuseContainer(ctx context.Context, c *client.Client, verb, ref, to string, r client.Resource) error {
	name := strings.TrimSuffix(to, "/")
	if strings.Contains(name, "/") {
		return nil
	}
	kind, err := reference.ContainerNamed(ctx, c, name)
	if err != nil || kind == "" {
		return err
	}
	advice := fmt.Sprintf("to move or copy it to that set: labshelf %s %s --to %s", verb, quoted(ref), quoted(name))
	if kind == reference.DataspaceKind {
		advice = fmt.Sprintf("to move or copy it to a set of it: labshelf %s %s --to %s/SET", verb, quoted(ref), quoted(name))
	}
	return exit.Usagef("%q is the name of a %s\n%s\nto use that name: labshelf %s %s --to %s --name %s",
		name, strings.TrimSuffix(kind, "s"), advice, verb, quoted(ref), display.Printable(r.SetID), quoted(name))
}
