// Package reference finds dataspaces, sets, resources and users by the references that people type:
// ids, URLs or names.
package reference

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"

	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// The kinds of records, as in URLs.
const (
	DataspaceKind = "dataspaces"
	SetKind       = "sets"
	ResourceKind  = "resources"
	userKind      = "users"
)

// PageSize is the largest page of a listing, for listings that are read completely.
const PageSize = 1000

// FindDataspace returns the dataspace that ref names: by id, by URL, or by name without regard to
// case. Deleted dataspaces are included. The error says how to list dataspaces in state.
func FindDataspace(ctx context.Context, c *client.Client, ref, state string) (client.Dataspace, error) {
	d, found, err := LookupDataspace(ctx, c, ref)
	if err == nil && !found {
		err = NotFound(ctx, c, ref, "a dataspace", "give its name, id or URL: "+listedBy("ls", state))
	}
	return d, err
}

// listedBy returns advice with the command that lists records in state.
func listedBy(command, state string) string {
	if state == client.Deleted {
		return fmt.Sprintf("\"labshelf %s --deleted\" lists the deleted ones", command)
	}
	return fmt.Sprintf("\"labshelf %s\" lists them", command)
}

// LookupDataspace is like FindDataspace, and returns found false instead of an error if no
// dataspace matches.
func LookupDataspace(ctx context.Context, c *client.Client, ref string) (d client.Dataspace, found bool, err error) {
	read := reader[client.Dataspace]{DataspaceKind, c.Dataspaces.Get, func(d client.Dataspace) string { return d.URL }}
	if d, found, err = read.byID(ctx, c, ref); found || err != nil {
		return d, found, err
	}
	name := strings.ToLower(ref) // names are in lower case
	if !containerName().MatchString(name) {
		return d, false, nil
	}
	return first(c.Dataspaces.List(ctx, client.ListOptions{State: client.All, Name: name}))
}

// ContainerNamed returns the kind of the active set or dataspace with this name or id, or "". A set
// takes precedence.
func ContainerNamed(ctx context.Context, c *client.Client, name string) (kind string, err error) {
	if !containerName().MatchString(name) {
		return "", nil
	}
	o := client.ListOptions{Name: name}
	if _, found, err := first(c.Sets.List(ctx, o)); found || err != nil {
		return SetKind, err
	}
	if _, found, err := first(c.Dataspaces.List(ctx, o)); found || err != nil {
		return DataspaceKind, err
	}
	return "", nil
}

// containerName matches the names of sets and dataspaces.
var containerName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9_-]{2,100}$`) })

// first returns the first record of a listing.
func first[T any](listed iter.Seq2[T, error]) (one T, found bool, err error) {
	for one, err := range listed {
		return one, err == nil, err
	}
	return one, false, nil
}

// FindSet returns the set that ref names. A reference is an id, a URL, a name, DATASPACE/NAME,
// DATASPACE/TITLE, or a title that is unique among the caller's readable sets. Among titles, sets
// in state take precedence.
func FindSet(ctx context.Context, c *client.Client, ref, state string) (client.Set, error) {
	s, found, err := LookupSet(ctx, c, ref, state)
	if err == nil && !found {
		err = NotFound(ctx, c, ref, "a set", "give its name, id or URL: "+listedBy("set ls", state))
	}
	return s, err
}

// LookupSet is like FindSet, and returns found false if no set has that reference. An incomplete
// reference is an error.
func LookupSet(ctx context.Context, c *client.Client, ref, state string) (s client.Set, found bool, err error) {
	if err := Complete(ref); err != nil {
		return s, false, err
	}
	read := reader[client.Set]{SetKind, c.Sets.Get, func(s client.Set) string { return s.URL }}
	if s, found, err = read.byID(ctx, c, ref); found || err != nil {
		return s, found, err
	}
	if space, name, ok := strings.Cut(ref, "/"); ok {
		d, known, err := LookupDataspace(ctx, c, space)
		if err != nil {
			return s, false, err
		}
		within := func(o client.ListOptions) iter.Seq2[client.Set, error] { return c.Dataspaces.Sets(ctx, d.ID, o) }
		if known {
			s, found, err = chosenSet(ctx, c, within, name, state)
		}
		if found || err != nil {
			return s, found, err
		}
	}
	everywhere := func(o client.ListOptions) iter.Seq2[client.Set, error] { return c.Sets.List(ctx, o) }
	return chosenSet(ctx, c, everywhere, ref, state) // also if a "/" is part of the title
}

// chosenSet returns the set that text matches best. It first asks the service for the name, and
// lists all sets only if text can only be a title.
func chosenSet(ctx context.Context, c *client.Client, sets func(client.ListOptions) iter.Seq2[client.Set, error], text, state string) (client.Set, bool, error) {
	if containerName().MatchString(text) {
		if s, found, err := first(sets(client.ListOptions{State: client.All, Name: text})); found || err != nil {
			return s, found, err
		}
	}
	best, fits := 0, []client.Set(nil)
	for s, err := range sets(client.ListOptions{State: client.All, Limit: PageSize}) {
		if err != nil {
			return client.Set{}, false, err
		}
		fit := fitness(s, text, state)
		if fit > best {
			best, fits = fit, nil
		}
		if fit == best && fit > 0 {
			fits = append(fits, s)
		}
	}
	switch len(fits) {
	case 0:
		return client.Set{}, false, nil
	case 1:
		return fits[0], true, nil
	}
	return client.Set{}, false, severalSets(ctx, c, text, fits)
}

// fitness returns how well text matches a set, 0 for not at all. A name is unique in all states.
// Among titles, sets in state come first, then titles in the same case.
func fitness(s client.Set, text, state string) int {
	fit, title, named := 0, norm.NFC.String(s.Title), norm.NFC.String(text) // macOS terminals decompose characters
	switch {
	case s.Name == text:
		return 5
	case title == named:
		fit = 2
	case strings.EqualFold(title, named), strings.EqualFold(s.Name, text):
		fit = 1
	}
	if fit > 0 && s.State == state {
		fit += 2
	}
	return fit
}

func severalSets(ctx context.Context, c *client.Client, title string, sets []client.Set) error {
	names, err := DataspaceNames(ctx, c)
	if err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d sets are called %q; give the name or id of one:", len(sets), title)
	for _, s := range sets {
		fmt.Fprintf(&text, "\n  %s  %s  in dataspace %s", s.ID, display.Printable(s.Name), display.Printable(names[s.DataspaceID]))
	}
	return errors.New(text.String())
}

// FindResource returns the resource that ref names: by id, by URL, or as SET:NAME with a SET as for
// FindSet. Among names, resources in state take precedence.
func FindResource(ctx context.Context, c *client.Client, ref, state string) (client.Resource, error) {
	r, found, err := LookupResource(ctx, c, ref, state)
	if err == nil && !found {
		advice := howNamed
		if state == client.Deleted {
			advice += "\n\"labshelf ls --deleted SET\" lists the deleted resources of a set"
		}
		err = NotFound(ctx, c, ref, "a resource", advice)
	}
	return r, err
}

const howNamed = "give its id, its URL, or SET:NAME, such as runs-2026:run-1.csv"

// NotFound returns the error for a ref that matches no record of the wanted kind. It names the
// record that ref does match, or gives the advice.
func NotFound(ctx context.Context, c *client.Client, ref, wanted, advice string) error {
	none := fmt.Errorf("there is no %s %q", strings.ReplaceAll(strings.TrimPrefix(wanted, "a "), " a ", " "), ref)
	nothing := fmt.Errorf("%w; %s", none, advice)
	var isSet, isResource bool
	var s client.Set
	d, isDataspace, err := LookupDataspace(ctx, c, ref)
	if err == nil && !isDataspace {
		s, isSet, err = LookupSet(ctx, c, ref, client.Active)
	}
	if err == nil && !isDataspace && !isSet {
		_, isResource, err = LookupResource(ctx, c, ref, client.Active)
	}
	switch name := ref; {
	case err != nil:
		return nothing
	case isDataspace && strings.HasSuffix(wanted, "set or a resource"):
		return fmt.Errorf("%q is a dataspace, not %s; \"labshelf ls %s\" lists its sets\n\"labshelf harvest %[3]s DIR\" gets all of them",
			name, wanted, display.Printable(d.Name))
	case isDataspace:
		return fmt.Errorf("%q is a dataspace, not %s; \"labshelf ls %s\" lists its sets", name, wanted, display.Printable(d.Name))
	case isSet && wanted == "a resource":
		return fmt.Errorf("%q is a set, not a resource, such as %s:NAME; \"labshelf ls %[2]s\" lists them", name, display.Printable(s.Name))
	case isSet:
		return fmt.Errorf("%q is a set, not %s", name, wanted)
	case isResource:
		return fmt.Errorf("%q is a resource, not %s", name, wanted)
	}
	if set, file, ok := strings.Cut(ref, "/"); ok && set != "" && file != "" && !strings.Contains(ref, "://") {
		if s, found, err := LookupSet(ctx, c, set, client.Active); found && err == nil {
			return fmt.Errorf("%w; a resource of the set %s is written with a colon: %q", none, display.Printable(s.Name), set+":"+file)
		}
	}
	return nothing
}

// LookupResource is like FindResource, and returns found false instead of an error. If ref names a
// set without that resource, it returns an error.
func LookupResource(ctx context.Context, c *client.Client, ref, state string) (r client.Resource, found bool, err error) {
	if set, name, ok := SetAddress(ref); ok {
		s, err := FindSet(ctx, c, set, client.Active)
		if err != nil {
			return r, false, err
		}
		return resourceNamed(ctx, c, s, name, state)
	}
	read := reader[client.Resource]{ResourceKind, c.Resources.Get, func(r client.Resource) string { return r.URL }}
	if r, found, err = read.byID(ctx, c, ref); found || err != nil {
		return r, found, err
	}
	for i, b := range []byte(ref) { // titles and names may contain colons
		if b != ':' || Empty(ref[:i]) || i == len(ref)-1 {
			continue
		}
		s, found, err := LookupSet(ctx, c, ref[:i], client.Active)
		if err != nil {
			return r, false, err
		}
		if found {
			return resourceNamed(ctx, c, s, ref[i+1:], state)
		}
	}
	return r, false, nil
}

// resourceNamed returns the only resource of a set with that name.
func resourceNamed(ctx context.Context, c *client.Client, s client.Set, name, state string) (r client.Resource, found bool, err error) {
	other := client.Deleted
	if state == client.Deleted {
		other = client.Active
	}
	for _, state := range []string{state, other} {
		var fits []client.Resource
		for r, err := range c.Sets.Resources(ctx, s.ID, client.ListOptions{State: state, Name: name, Limit: PageSize}) {
			if err != nil {
				return client.Resource{}, false, err
			}
			fits = append(fits, r)
		}
		switch len(fits) {
		case 0:
			continue
		case 1:
			return fits[0], true, nil
		}
		return r, false, severalResources(s, name, fits)
	}
	shown := display.Printable(s.Name)
	if other == client.Active {
		return r, false, fmt.Errorf("there is no resource %q in the set %s; \"labshelf ls --deleted %s\" lists the deleted ones", name, shown, shown)
	}
	return r, false, fmt.Errorf("there is no resource %q in the set %s; \"labshelf ls %s\" lists the existing ones", name, shown, shown)
}

func severalResources(s client.Set, name string, resources []client.Resource) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%d %s resources of the set %s are called %q; give the id of one:",
		len(resources), display.Printable(resources[0].State), display.Printable(s.Name), name)
	for _, r := range resources {
		fmt.Fprintf(&text, "\n  %s  %s  modified %s", r.ID, display.Bytes(r.Bytes), display.Time(r.Modified.Time))
	}
	return errors.New(text.String())
}

// reader reads one kind of record by id.
type reader[T any] struct {
	kind string
	read func(context.Context, string, ...client.Condition) (T, error)
	url  func(T) string
}

// IDPattern matches ids; other texts are not looked up as ids.
var IDPattern = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// byID reads the record that ref names as an id or a URL. A URL must belong to this service: a copy
// of the service has the same ids.
func (r reader[T]) byID(ctx context.Context, c *client.Client, ref string) (got T, found bool, err error) {
	a, isURL := ParseAddress(ref)
	switch {
	case Empty(ref):
		return got, false, Complete(ref)
	case isURL && a.Kind != r.kind:
		return got, false, exit.Usagef("%s is not the address of one of the %s", ref, r.kind)
	case isURL:
	case !IDPattern.MatchString(ref):
		return got, false, nil
	default:
		a.id = ref
	}
	got, err = r.read(ctx, a.id)
	var problem *client.Problem
	if errors.As(err, &problem) && problem.Status == 404 && problem.Code != "" && !isURL {
		return got, false, nil
	}
	if err != nil {
		return got, false, err
	}
	if stored, _ := ParseAddress(r.url(got)); isURL && !a.of(c.Base()) && !strings.EqualFold(a.Root, stored.Root) {
		var none T
		return none, false, exit.Usagef("%s belongs to another service than %s; select that service with --server, or give the id %s", ref, c.Base(), a.id)
	}
	return got, true, nil
}

// DataspaceNames returns the names of all dataspaces that the caller may read, by id.
func DataspaceNames(ctx context.Context, c *client.Client) (map[string]string, error) {
	names := map[string]string{}
	for d, err := range c.Dataspaces.List(ctx, client.ListOptions{State: client.All, Limit: PageSize}) {
		if err != nil {
			return nil, err
		}
		names[d.ID] = d.Name
	}
	return names, nil
}
