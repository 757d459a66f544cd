// Package find has the commands of the search: find, and index for its index.
package find

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// findFlags are the flags of find.
type findFlags struct {
	command.ViewFlags
	order       string
	counts, web bool
}

// Command returns the command find.
func Command(p command.Process) *cobra.Command {
	var f findFlags
	cmd := &cobra.Command{
		Use:   "find QUERY...",
		Short: "Find dataspaces, sets and files by name, description or content",
		Long: `find lists the objects that match a query and that you can read, the most
relevant first. Each row has the name of the object, in the form that other
commands accept, and the parts that contain words of the query. If two files
have the same name, use the id, which --long shows.

find searches names, titles, tags, descriptions, properties, creators and the
text of files. It also finds the beginnings of words. All words must match.
"labshelf help search" describes phrases, -not, tag:, in: and size:>1GB.

Your shell interprets quotes, > and words that begin with a dash. Write such a
query in single quotes, and -- before a query that begins with a dash.

--counts prints the number of hits instead, by kind, dataspace, tag, creator and
year. --web prints the address of the page with the hits, to save the search.`,
		Example: `  labshelf find ice core
  labshelf find '"ice core" -raw size:>1GB'
  labshelf find 'temperature:>20C' in:lab-one --order newest --limit 20
  labshelf find tag:raw --counts
  labshelf find type:csv --json | jq -r .record.sha256`,
		Args: command.AtLeast(1, "a query, such as: ice core"),
	}
	cmd.PreRunE = func(*cobra.Command, []string) error { return f.check() }
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		q := client.SearchQuery{Text: strings.Join(args, " "), Order: f.order, Limit: f.Page()}
		switch {
		case f.web:
			_, err := display.Fprintln(p.Out, searchAddress(c, q))
			return err
		case f.counts:
			return countFound(ctx, p, c, q, f.JSON)
		}
		return find(ctx, p, c, q, f)
	})
	flags := cmd.Flags()
	flags.StringVar(&f.order, "order", "", "sort in this `ORDER`: relevance (the default), newest or oldest modification first, or name")
	flags.BoolVar(&f.counts, "counts", false, "print only the number of matches")
	flags.BoolVar(&f.web, "web", false, "print the address of the page with the hits")
	flags.BoolVarP(&f.Long, "long", "l", false, "also show ids and titles; truncate nothing")
	flags.IntVar(&f.Limit, "limit", 0, "at most `N` rows (default: all)")
	command.JSONFlag(cmd, &f.JSON)
	cmd.SetFlagErrorFunc(dashedWord)
	p.CompletesFlag(cmd, "order", completion.Words("relevance", "newest", "oldest", "name"))
	return p.Completes(cmd, true, completion.Query)
}

func (f *findFlags) check() error {
	switch f.order {
	case "", "relevance", "newest", "oldest", "name":
	default:
		return exit.Usagef("--order must be relevance, newest, oldest or name, not %q", f.order)
	}
	if f.counts && (f.web || f.order != "" || f.Limit != 0) {
		return exit.Usagef("--counts lists no hits: omit --order, --limit and --web")
	}
	return f.ViewFlags.Check()
}

// dashedWord adds advice to the error about an unknown flag, which may be a part of the query.
func dashedWord(cmd *cobra.Command, err error) error {
	err = cmd.Root().FlagErrorFunc()(cmd, err)
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() == "" {
		return err
	}
	return fmt.Errorf("%w\nwrite a query with a dash in single quotes, and -- before it: labshelf find -- 'ice -raw'", err)
}

// searchAddress returns the address of the page with the hits of a query, printable.
func searchAddress(c *client.Client, q client.SearchQuery) string {
	address := strings.TrimSuffix(c.Base(), "/v1") + "/search?q=" + url.QueryEscape(q.Text)
	if q.Order != "" {
		address += "&order=" + url.QueryEscape(q.Order)
	}
	return display.Printable(address)
}

// find lists the hits of a query.
func find(ctx context.Context, p command.Process, c *client.Client, q client.SearchQuery, f findFlags) error {
	var behind uint64
	hits := func(yield func(client.Hit, error) bool) {
		for page, err := range c.SearchPages(ctx, q.At(c.Base()+"/search")) {
			behind = max(behind, page.Behind)
			if err != nil {
				yield(client.Hit{}, err)
				return
			}
			for _, hit := range page.Data {
				if !yield(hit, nil) {
					return
				}
			}
		}
	}
	if err := command.Show(p, iter.Seq2[client.Hit, error](hits), hitColumns(ctx, &places{client: c}, f.Long), f.View(nothingFound)); err != nil {
		return err
	}
	return catchingUp(p, behind)
}

// nothingFound is shown for a query without hits.
const nothingFound = "No readable object matches. Fewer or shorter words find more; \"labshelf help search\" describes the language of the search."

// catchingUp reports on standard error that the newest changes cannot be found yet.
func catchingUp(p command.Process, behind uint64) error {
	if behind == 0 {
		return nil
	}
	_, err := display.Fprintf(p.Err, "The search is catching up: it does not find the last %d changes yet.\n", behind)
	return err
}

func hitColumns(ctx context.Context, where *places, exact bool) []command.Column[client.Hit] {
	type h = client.Hit
	return []command.Column[h]{
		{Head: "ID", Only: command.InLong, Cell: func(h h) string { return recordOf(h).id }},
		{Head: "KIND", Cell: func(h h) string { return h.Kind }},
		{Head: "WHERE", Cell: func(h h) string { return where.reference(ctx, h) }},
		{Head: "TITLE", Only: command.InLong, Cell: func(h h) string { return recordOf(h).title }},
		{Head: "SIZE", Cell: func(h h) string {
			switch {
			case h.Resource == nil:
				return ""
			case exact:
				return strconv.FormatInt(h.Resource.Bytes, 10)
			}
			return display.Bytes(h.Resource.Bytes)
		}},
		{Head: "MODIFIED", Cell: func(h h) string { return display.Time(recordOf(h).modified) }},
		{Head: "MATCHED", Cell: func(h h) string { return strings.Join(h.Matched, ", ") }},
	}
}

// foundRecord has the fields common to records of all kinds.
type foundRecord struct {
	id, title string
	modified  time.Time
}

func recordOf(h client.Hit) foundRecord {
	switch {
	case h.Dataspace != nil:
		return foundRecord{h.Dataspace.ID, h.Dataspace.Title, h.Dataspace.Modified.Time}
	case h.Set != nil:
		return foundRecord{h.Set.ID, h.Set.Title, h.Set.Modified.Time}
	}
	return foundRecord{h.Resource.ID, "", h.Resource.Modified.Time}
}

// places are the names of dataspaces, and of sets as DATASPACE/SET, by id.
type places struct {
	client     *client.Client
	dataspaces map[string]string
	sets       map[string]string
}

// MostRead is how many sets are read one by one before all sets are listed.
const MostRead = 20

// reference returns the place of a hit as other commands take it; unreadable containers by id.
func (l *places) reference(ctx context.Context, h client.Hit) string {
	switch {
	case h.Dataspace != nil:
		return h.Dataspace.Name
	case h.Set != nil:
		return l.dataspace(ctx, h.Set.DataspaceID) + "/" + h.Set.Name
	}
	return l.set(ctx, h.Resource.SetID) + ":" + h.Resource.Name
}

func (l *places) dataspace(ctx context.Context, id string) string {
	if l.dataspaces == nil {
		names, err := reference.DataspaceNames(ctx, l.client)
		if err != nil {
			names = map[string]string{} // fall back to ids
		}
		l.dataspaces = names
	}
	return cmp.Or(l.dataspaces[id], id)
}

func (l *places) set(ctx context.Context, id string) string {
	if l.sets == nil {
		l.sets = map[string]string{}
	}
	if name, known := l.sets[id]; known {
		return name
	}
	if len(l.sets) == MostRead {
		for s, err := range l.client.Sets.List(ctx, client.ListOptions{State: client.All, Limit: reference.PageSize}) {
			if err != nil {
				break
			}
			l.sets[s.ID] = l.dataspace(ctx, s.DataspaceID) + "/" + s.Name
		}
	}
	if _, listed := l.sets[id]; !listed {
		l.sets[id] = id
		if s, err := l.client.Sets.Get(ctx, id); err == nil {
			l.sets[id] = l.dataspace(ctx, s.DataspaceID) + "/" + s.Name
		}
	}
	return l.sets[id]
}

// countFound prints the number of hits of a query.
func countFound(ctx context.Context, p command.Process, c *client.Client, q client.SearchQuery, asJSON bool) error {
	q.Counts, q.Limit = true, 1
	var first client.SearchPage
	for page, err := range c.SearchPages(ctx, q.At(c.Base()+"/search")) {
		if err != nil {
			return err
		}
		first = page
		break
	}
	if err := catchingUp(p, first.Behind); err != nil {
		return err
	}
	counts := cmp.Or(first.Counts, &client.SearchCounts{
		Kinds: []client.SearchCount{}, Dataspaces: []client.SearchCount{}, Tags: []client.SearchCount{}, Creators: []client.SearchCount{}, Years: []client.YearCount{},
	})
	if asJSON {
		return display.WriteJSON(p.Out, struct {
			Total  int                  `json:"total"`
			Counts *client.SearchCounts `json:"counts"`
		}{first.Total, counts})
	}
	t := display.Table{Head: []string{"BY", "VALUE", "HITS"}}
	t.Add("all", "", strconv.Itoa(first.Total))
	for _, by := range []struct {
		name   string
		counts []client.SearchCount
	}{{"kind", counts.Kinds}, {"dataspace", counts.Dataspaces}, {"tag", counts.Tags}, {"creator", counts.Creators}} {
		for _, n := range by.counts {
			t.Add(by.name, cmp.Or(n.Name, n.Value), strconv.Itoa(n.Count))
		}
	}
	for _, n := range counts.Years {
		t.Add("year", strconv.Itoa(n.Value), strconv.Itoa(n.Count))
	}
	return t.Write(p.Out, display.Width(p.Out))
}
