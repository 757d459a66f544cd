package commands

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"labshelf/client"
)

// everything is the listing of all resources that the caller may read.
const everything = "all"

func harvestCommand(p Process) *cobra.Command {
	var fromStart, asJSON bool
	var parallel int
	cmd := &cobra.Command{
		Use:   "harvest SET|DATASPACE|URL|all DIR",
		Short: "Keep an exact copy of what is in a set, a dataspace, or all",
		Long: `harvest makes the folder DIR a mirror of a listing: of the resources of a set
or a dataspace, of all that you may read (all), or of the listing that has this
URL (with dataspaceId, setId or since, if you like). The first run fetches
everything. Run it again, once a night for example, and it fetches only what
was added or changed since, and removes what was deleted; where nothing has
changed that is one request. With all it also notices which dataspaces you may
read newly, and which no longer: the files of these are removed.

In DIR there are then
  files/          the files by name, each compared with its SHA-256; in a mirror
                  of more than one set there are folders for dataspace and set
  metadata.jsonl  a line of JSON for each resource, deleted ones too
  README.txt      more about these, for whoever finds the folder
  state.json      how far the mirror is, for the next run

DIR belongs to the mirror: what is changed by hand in files/ is overwritten in
the course of time, and what is added is moved to strays/ when it is in the way.
It can be interrupted or killed at any moment; the next run goes on. Names
become paths as labshelf get does it.

--from-start goes through the whole listing again and compares every file here
with its SHA-256. Use it when somebody has changed files here, when state.json
or metadata.jsonl are damaged, or after the service was restored from a backup.

Files that cannot be got are told and tried again in each run.`,
		Example: `  labshelf harvest runs-2026 mirror
  labshelf harvest all /srv/mirror
  labshelf harvest https://data.example.org/v1/resources?since=2026-01 mirror`,
		Args:        exactly(2, "what to mirror, and the folder for it"),
		Annotations: p.ExitCodes(6, 130),
	}
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		h := &harvesting{Process: p, fetcher: fetcher{client: c}, asJSON: asJSON, fromStart: fromStart, parallel: parallel}
		if err := checkParallel(parallel); err != nil {
			return err
		}
		return interrupted(ctx, h.harvest(ctx, args[0], args[1]), "what is here is not fetched again")
	})
	cmd.Flags().BoolVar(&fromStart, "from-start", false, "go through everything again, and compare every file here")
	parallelFlag(cmd, &parallel, "fetch", fetchAtOnce)
	jsonFlag(cmd, &asJSON)
	return p.completesThenFolder(cmd, either(words(everything), dataspacesIn(client.Active), setsIn(client.Active)))
}

// listing returns the listing that a person means by ref: the URL of its first page, below the base URL.
func listing(ctx context.Context, c *client.Client, ref string) (string, error) {
	if ref == everything {
		return listingURL(resourceKind, nil)
	}
	a, isURL := parseAddress(ref)
	whole, query, _ := strings.Cut(ref, "?")
	given, err := url.ParseQuery(query)
	switch {
	case isURL && err != nil:
		return "", usagef("%s: %w", ref, err)
	case isURL && a.kind == "":
		if base := strings.TrimSuffix(strings.TrimSuffix(whole, "/"), "/resources"); base == whole || !strings.EqualFold(base, c.Base()) {
			return "", usagef("%s is not the address of a listing of resources of %s", ref, c.Base())
		}
		return listingURL(resourceKind, given)
	case isURL && (a.kind == setKind || a.kind == dataspaceKind):
		rest, _, _ := strings.Cut(a.rest, "?")
		if rest = strings.TrimSuffix(rest, "/"); rest == "/resources" {
			ref = strings.TrimSuffix(ref, a.rest)
		} else if rest != "" || query != "" {
			return "", usagef("%s is not the address of a listing of resources; those end with /resources", ref)
		}
	case isURL:
		return "", usagef("%s is neither the address of a set or dataspace nor that of a listing of resources", ref)
	}
	container, err := findContainer(ctx, c, ref, a.kind)
	if err != nil {
		return "", err
	}
	return listingURL(container+"/resources", given)
}

// findContainer returns which set or dataspace ref names, as sets/ID or dataspaces/ID.
func findContainer(ctx context.Context, c *client.Client, ref, kind string) (string, error) {
	var s client.Set
	var d client.Dataspace
	var isSet, isDataspace bool
	var err error
	if kind != setKind {
		d, isDataspace, err = lookupDataspace(ctx, c, ref)
	}
	if kind != dataspaceKind && err == nil {
		s, isSet, err = lookupSet(ctx, c, ref, client.Active)
	}
	switch {
	case err != nil:
		return "", err
	case isSet && isDataspace:
		return "", fmt.Errorf("%q names the dataspace %s and the set %s; give the id of the one that you mean", ref, d.ID, s.ID)
	case isSet:
		return setKind + "/" + s.ID, nil
	case isDataspace:
		return dataspaceKind + "/" + d.ID, nil
	}
	return "", meant(ctx, c, ref, "a set or a dataspace", "give its name, id or URL, or \"all\": \"labshelf ls\" lists them")
}

// listingURL holds the parameters of a listing against what a mirror can follow, and asks for the states of all resources.
func listingURL(path string, given url.Values) (string, error) {
	asked := url.Values{"state": {client.All}, "limit": {fmt.Sprint(wholePage)}}
	for name, values := range given {
		value := values[0]
		switch {
		case len(values) > 1 || value == "":
			return "", usagef("the listing wants one value for %s", name)
		case name == "state" && value != client.All:
			return "", usagef("leave state=%s out: a mirror must hear of deletions", value)
		case slices.Contains([]string{"order", "name", "namePrefix", "until"}, name):
			return "", usagef("leave %s out: what leaves such a listing leaves it without a trace, and a mirror would never hear of that", name)
		case !slices.Contains([]string{"dataspaceId", "setId", "since", "limit", "state"}, name):
			return "", usagef("leave %s out: the listing can have dataspaceId, setId and since", printable(name))
		case (name == "dataspaceId" || name == "setId") && (path != resourceKind || len(given["dataspaceId"])+len(given["setId"]) > 1):
			return "", usagef("name one dataspace or one set")
		}
		asked.Set(name, value)
	}
	for name, kind := range map[string]string{"dataspaceId": dataspaceKind, "setId": setKind} {
		if id := asked.Get(name); id != "" { // these are the same listings
			asked.Del(name)
			path = kind + "/" + url.PathEscape(id) + "/resources"
		}
	}
	return path + "?" + asked.Encode(), nil
}

// listingOf is what a listing is of, and the id of that: setKind, dataspaceKind, or resourceKind for all.
func listingOf(listing string) (kind, id string) {
	path, _, _ := strings.Cut(listing, "?")
	kind, rest, _ := strings.Cut(path, "/")
	id, _, _ = strings.Cut(rest, "/")
	return kind, id
}

// harvest brings the mirror in dir up to date.
func (h *harvesting) harvest(ctx context.Context, ref, dir string) (err error) {
	m, err := openMirror(dir, h.fromStart)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	m.before = h.before
	h.mirror, h.root, h.meter = m, m.root, h.newMeter("harvest")
	defer h.meter.Close()
	if err := h.agree(ctx, ref); err != nil {
		return err
	}
	err = h.run(ctx)
	h.meter.Close()
	return h.report(err)
}

// agree sees to it that the mirror is one of the listing that ref names. What was called so before is not looked up again.
func (h *harvesting) agree(ctx context.Context, ref string) error {
	s := &h.state
	if slices.Contains(s.Asked, ref) {
		return nil
	}
	what, err := listing(ctx, h.client, ref)
	switch {
	case err != nil:
		return err
	case h.fresh:
		return h.first(ctx, what, ref)
	case what != s.Listing:
		return fmt.Errorf("%s is a mirror of %s/%s; choose another folder for %s", h.dir, s.Service, s.Listing, ref)
	}
	s.Asked = append(s.Asked, ref)
	return nil
}

// first makes the state of a mirror that has just begun, if there is such a listing.
func (h *harvesting) first(ctx context.Context, what, ref string) error {
	h.state = progress{Format: mirrorFormat, Service: h.client.Base(), Listing: what, Asked: []string{ref}, Next: h.client.Base() + "/" + what}
	if _, err := client.FetchPage[client.Resource](ctx, h.client, h.state.Next); err != nil {
		return err
	}
	if kind, _ := listingOf(what); kind != resourceKind {
		return nil
	}
	me, err := h.client.Me(ctx)
	h.state.User = me.ID
	return err
}
