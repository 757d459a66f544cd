package commands

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"

	"labshelf/client"
)

// What references name, as their addresses call it.
const (
	dataspaceKind = "dataspaces"
	setKind       = "sets"
	resourceKind  = "resources"
	userKind      = "users"
)

// wholePage is the size of a page when all of a listing is wanted: the largest that there is.
const wholePage = 1000

// findDataspace returns the dataspace that ref names: by id, by URL, or by name without regard to case. Deleted ones are found too.
func findDataspace(ctx context.Context, c *client.Client, ref string) (client.Dataspace, error) {
	return findDataspaceIn(ctx, c, ref, client.Active)
}

// findDataspaceIn is findDataspace for a command that wants dataspaces in state.
func findDataspaceIn(ctx context.Context, c *client.Client, ref, state string) (client.Dataspace, error) {
	d, found, err := lookupDataspace(ctx, c, ref)
	if err == nil && !found {
		err = meant(ctx, c, ref, "a dataspace", "give its name, id or URL: "+listedBy("ls", state))
	}
	return d, err
}

// listedBy says which command lists what is in state.
func listedBy(command, state string) string {
	if state == client.Deleted {
		return fmt.Sprintf("\"labshelf %s --deleted\" lists those that are deleted", command)
	}
	return fmt.Sprintf("\"labshelf %s\" lists them", command)
}

func lookupDataspace(ctx context.Context, c *client.Client, ref string) (d client.Dataspace, found bool, err error) {
	read := reader[client.Dataspace]{dataspaceKind, c.Dataspace, func(d client.Dataspace) string { return d.URL }}
	if d, found, err = read.direct(ctx, c, ref); found || err != nil {
		return d, found, err
	}
	name := strings.ToLower(ref) // as all names are
	if !containerName.MatchString(name) {
		return d, false, nil
	}
	return first(c.Dataspaces(ctx, client.ListOptions{State: client.All, Name: name}))
}

// containerName is what the name of a set or dataspace can be.
var containerName = regexp.MustCompile(`^[a-z0-9_-]{2,100}$`)

// first returns the first of a listing.
func first[T any](listed iter.Seq2[T, error]) (one T, found bool, err error) {
	for one, err := range listed {
		return one, err == nil, err
	}
	return one, false, nil
}

// findSet returns the set that ref names: by id, URL or name, as DATASPACE/NAME or DATASPACE/TITLE, or by a title that no other set
// has which the caller may read. A deleted set is found by its title only where no active one has it.
func findSet(ctx context.Context, c *client.Client, ref string) (client.Set, error) {
	return findSetIn(ctx, c, ref, client.Active)
}

// findSetIn is findSet that prefers sets in state where only titles decide.
func findSetIn(ctx context.Context, c *client.Client, ref, state string) (client.Set, error) {
	s, found, err := lookupSet(ctx, c, ref, state)
	if err == nil && !found {
		err = meant(ctx, c, ref, "a set", "give its name, id or URL: "+listedBy("set ls", state))
	}
	return s, err
}

func lookupSet(ctx context.Context, c *client.Client, ref, state string) (s client.Set, found bool, err error) {
	read := reader[client.Set]{setKind, c.Set, func(s client.Set) string { return s.URL }}
	if s, found, err = read.direct(ctx, c, ref); found || err != nil {
		return s, found, err
	}
	if space, name, ok := strings.Cut(ref, "/"); ok {
		d, known, err := lookupDataspace(ctx, c, space)
		if err != nil {
			return s, false, err
		}
		within := func(o client.ListOptions) iter.Seq2[client.Set, error] { return c.DataspaceSets(ctx, d.ID, o) }
		if known {
			s, found, err = chosenSet(ctx, c, within, name, state)
		}
		if found || err != nil {
			return s, found, err
		}
	}
	everywhere := func(o client.ListOptions) iter.Seq2[client.Set, error] { return c.Sets(ctx, o) }
	return chosenSet(ctx, c, everywhere, ref, state) // also where a "/" is part of the title
}

// chosenSet is the one of sets that text names best: the service is asked for the name, and only where no set has it for all of them,
// since text may be a title.
func chosenSet(ctx context.Context, c *client.Client, sets func(client.ListOptions) iter.Seq2[client.Set, error], text, state string) (client.Set, bool, error) {
	if containerName.MatchString(text) {
		if s, found, err := first(sets(client.ListOptions{State: client.All, Name: text})); found || err != nil {
			return s, found, err
		}
	}
	best, fits := 0, []client.Set(nil)
	for s, err := range sets(client.ListOptions{State: client.All, Limit: wholePage}) {
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

// fitness says how well text names a set, 0 for not at all. A name is unique, whatever the state; of titles those of sets in state
// come first, and those with the same case.
func fitness(s client.Set, text, state string) int {
	fit := 0
	switch {
	case s.Name == text:
		return 5
	case s.Title == text:
		fit = 2
	case strings.EqualFold(s.Title, text), strings.EqualFold(s.Name, text):
		fit = 1
	}
	if fit > 0 && s.State == state {
		fit += 2
	}
	return fit
}

func severalSets(ctx context.Context, c *client.Client, title string, sets []client.Set) error {
	names, err := dataspaceNames(ctx, c)
	if err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d sets are called %q; give the name or id of one:", len(sets), title)
	for _, s := range sets {
		fmt.Fprintf(&text, "\n  %s  %s  in dataspace %s", s.ID, printable(s.Name), printable(names[s.DataspaceID]))
	}
	return errors.New(text.String())
}

// findResource returns the resource that ref names: by id, by URL, or as SET:NAME with a SET as findSet takes it. A deleted one is
// found by its name only where no active one in the set has it.
func findResource(ctx context.Context, c *client.Client, ref string) (client.Resource, error) {
	r, found, err := lookupResource(ctx, c, ref, client.Active)
	if err == nil && !found {
		err = meant(ctx, c, ref, "a resource", howNamed)
	}
	return r, err
}

// findResourceIn is findResource that prefers resources in state where only names decide.
func findResourceIn(ctx context.Context, c *client.Client, ref, state string) (client.Resource, error) {
	r, found, err := lookupResource(ctx, c, ref, state)
	if err == nil && !found {
		err = fmt.Errorf("there is no resource %q; %s", ref, howNamed)
		if state == client.Deleted {
			err = fmt.Errorf("%w\n\"labshelf ls --deleted SET\" lists the deleted resources of a set", err)
		}
	}
	return r, err
}

const howNamed = "give its id, its URL, or SET:NAME, such as runs-2026:run-1.csv"

// meant is the error about a ref that names nothing of what is wanted, in words. It says what else ref names, or else the advice.
func meant(ctx context.Context, c *client.Client, ref, wanted, advice string) error {
	none := fmt.Errorf("there is no %s %q", strings.ReplaceAll(strings.TrimPrefix(wanted, "a "), " a ", " "), ref)
	nothing := fmt.Errorf("%w; %s", none, advice)
	var isSet, isResource bool
	var s client.Set
	d, isDataspace, err := lookupDataspace(ctx, c, ref)
	if err == nil && !isDataspace {
		s, isSet, err = lookupSet(ctx, c, ref, client.Active)
	}
	if err == nil && !isDataspace && !isSet {
		_, isResource, err = lookupResource(ctx, c, ref, client.Active)
	}
	switch name := ref; {
	case err != nil:
		return nothing
	case isDataspace && strings.HasSuffix(wanted, "set or a resource"):
		return fmt.Errorf("%q is a dataspace, and %s is wanted; \"labshelf ls %s\" lists its sets\n\"labshelf harvest %[3]s DIR\" gets all of them",
			name, wanted, printable(d.Name))
	case isDataspace:
		return fmt.Errorf("%q is a dataspace, and %s is wanted; \"labshelf ls %s\" lists its sets", name, wanted, printable(d.Name))
	case isSet && wanted == "a resource":
		return fmt.Errorf("%q is a set, and a resource is wanted, such as %s:NAME; \"labshelf ls %[2]s\" lists them", name, printable(s.Name))
	case isSet:
		return fmt.Errorf("%q is a set, and %s is wanted", name, wanted)
	case isResource:
		return fmt.Errorf("%q is a resource, and %s is wanted", name, wanted)
	}
	if set, file, ok := strings.Cut(ref, "/"); ok && set != "" && file != "" && !strings.Contains(ref, "://") {
		if s, found, err := lookupSet(ctx, c, set, client.Active); found && err == nil {
			return fmt.Errorf("%w; a resource of the set %s has a colon before its name: %q", none, printable(s.Name), set+":"+file)
		}
	}
	return nothing
}

// lookupResource finds a resource as findResourceIn does. Where a set is found which holds none of that name, it is an error.
func lookupResource(ctx context.Context, c *client.Client, ref, state string) (r client.Resource, found bool, err error) {
	if set, name, ok := setAddress(ref); ok {
		s, err := findSet(ctx, c, set)
		if err != nil {
			return r, false, err
		}
		return resourceNamed(ctx, c, s, name, state)
	}
	read := reader[client.Resource]{resourceKind, c.Resource, func(r client.Resource) string { return r.URL }}
	if r, found, err = read.direct(ctx, c, ref); found || err != nil {
		return r, found, err
	}
	for i, b := range []byte(ref) { // a title may hold a colon as well as a name
		if b != ':' || i == 0 || i == len(ref)-1 {
			continue
		}
		s, found, err := lookupSet(ctx, c, ref[:i], client.Active)
		if err != nil {
			return r, false, err
		}
		if found {
			return resourceNamed(ctx, c, s, ref[i+1:], state)
		}
	}
	return r, false, nil
}

// resourceNamed is the one resource of a set that has the name.
func resourceNamed(ctx context.Context, c *client.Client, s client.Set, name, state string) (r client.Resource, found bool, err error) {
	other := client.Deleted
	if state == client.Deleted {
		other = client.Active
	}
	for _, state := range []string{state, other} {
		var fits []client.Resource
		for r, err := range c.SetResources(ctx, s.ID, client.ListOptions{State: state, Name: name, Limit: wholePage}) {
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
	shown := printable(s.Name)
	if other == client.Active {
		return r, false, fmt.Errorf("there is no resource %q in the set %s; \"labshelf ls --deleted %s\" lists what is deleted there", name, shown, shown)
	}
	return r, false, fmt.Errorf("there is no resource %q in the set %s; \"labshelf ls %s\" lists what is there", name, shown, shown)
}

func severalResources(s client.Set, name string, resources []client.Resource) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%d %s resources of the set %s are called %q; give the id of one:",
		len(resources), printable(resources[0].State), printable(s.Name), name)
	for _, r := range resources {
		fmt.Fprintf(&text, "\n  %s  %s  modified %s", r.ID, FormatBytes(r.Bytes), when(r.Modified))
	}
	return errors.New(text.String())
}

// findUser returns the user that ref names: by id, by URL, or by name without regard to case; "" and "me" are the caller. Deleted
// ones are found too.
func findUser(ctx context.Context, c *client.Client, ref string) (client.User, error) {
	if ref == "" || ref == client.Me {
		return c.Me(ctx)
	}
	read := reader[client.User]{userKind, c.User, func(u client.User) string { return u.URL }}
	if u, found, err := read.direct(ctx, c, ref); found || err != nil {
		return u, err
	}
	for u, err := range c.Users(ctx, client.ListOptions{State: client.All, Limit: wholePage}) {
		if err != nil || strings.EqualFold(u.Username, ref) {
			return u, err
		}
	}
	return client.User{}, fmt.Errorf("there is no user %q; \"labshelf user ls\" lists them", ref)
}

// userID is the id of findUser, without asking for the caller.
func userID(ctx context.Context, c *client.Client, user string) (string, error) {
	if user == "" || user == client.Me {
		return client.Me, nil
	}
	u, err := findUser(ctx, c, user)
	return u.ID, err
}

// reader reads one kind of record by id.
type reader[T any] struct {
	kind string
	read func(context.Context, string, ...client.Condition) (T, error)
	url  func(T) string
}

// anID is what can be an id; what else is in a reference is not asked for as one.
var anID = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// direct reads what ref names if it is an id or a URL. A URL must be one of this service: a copy of it elsewhere has the same ids.
func (r reader[T]) direct(ctx context.Context, c *client.Client, ref string) (got T, found bool, err error) {
	a, isURL := parseAddress(ref)
	switch {
	case ref == "":
		return got, false, usagef("a name, id or URL is empty")
	case isURL && a.kind != r.kind:
		return got, false, usagef("%s is no address of one of the %s", ref, r.kind)
	case isURL:
	case !anID.MatchString(ref):
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
	if stored, _ := parseAddress(r.url(got)); isURL && !a.beside(c.Base()) && !strings.EqualFold(a.root, stored.root) {
		var none T
		return none, false, usagef("%s is on another service than %s; name the right one with --server, or give the id %s", ref, c.Base(), a.id)
	}
	return got, true, nil
}

// address is the URL of a record, in the interface or of its page, taken apart.
type address struct {
	root     string // of the service, without /v1
	kind, id string // "" where it is no address of a record
	rest     string // from behind the id
}

var addressParts = regexp.MustCompile(`(?is)^(https?://[^/?#]+(?:/.*?)??)(?:/v1)?/(dataspaces|sets|resources|users)/([^/?#:]+)(.*)$`)

// parseAddress takes a URL apart; ok says whether text is one at all.
func parseAddress(text string) (a address, ok bool) {
	if parts := addressParts.FindStringSubmatch(text); parts != nil {
		return address{parts[1], strings.ToLower(parts[2]), parts[3], parts[4]}, true
	}
	lower := strings.ToLower(text)
	return address{}, strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
}

// beside says whether the address is one of the service with that base URL.
func (a address) beside(base string) bool {
	return strings.EqualFold(a.root, strings.TrimSuffix(base, "/v1"))
}

// setAddress takes the URL of a set apart that a colon and the name of a resource follow.
func setAddress(text string) (set, name string, ok bool) {
	a, isURL := parseAddress(text)
	name, ok = strings.CutPrefix(a.rest, ":")
	return strings.TrimSuffix(text, a.rest), name, ok && isURL && a.kind == setKind && name != ""
}
