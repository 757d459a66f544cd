package client

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

	"labshelf/cli/client/completion"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// findFlags are the flags of find.
type findFlags struct {
	viewFlags
	order       string
	counts, web bool
}

func findCommand(p Process) *cobra.Command {
	var f findFlags
	cmd := &cobra.Command{
		Use:   "find QUERY...",
		Short: "Find dataspaces, sets and files by name, description or content",
		Long: `find lists what fits a query, the most relevant first: where it is, as other
commands take it (where two files have that name, they want the id, which --long
shows), and which parts have the words of the query. It finds what you may read.

Words are looked for in names, titles, tags, descriptions, properties, creators
and the text of files, also the beginnings of words. All must fit. "labshelf
help search" has the rest of the language: phrases, -not, tag:, in:, size:>1GB.

Your shell takes quotes, > and what begins with a dash for itself: write such a
query in single quotes, and -- before one that begins with a dash.

--counts prints instead how many there are, by kind, dataspace, tag, creator and
year. --web prints the address of the page that shows the hits: keep it, and you
have saved the search.`,
		Example: `  labshelf find ice core
  labshelf find '"ice core" -raw size:>1GB'
  labshelf find 'temperature:>20C' in:lab-one --order newest --limit 20
  labshelf find tag:raw --counts
  labshelf find type:csv --json | jq -r .record.sha256`,
		Args: atLeast(1, "what to look for, such as: ice core"),
	}
	cmd.PreRunE = func(*cobra.Command, []string) error { return f.check() }
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		q := client.SearchQuery{Text: strings.Join(args, " "), Order: f.order, Limit: f.page()}
		switch {
		case f.web:
			_, err := display.Fprintln(p.Out, searchAddress(c, q))
			return err
		case f.counts:
			return p.countFound(ctx, c, q, f.json)
		}
		return p.find(ctx, c, q, f)
	})
	flags := cmd.Flags()
	flags.StringVar(&f.order, "order", "", "by `WORD`: relevance (the default), newest or oldest modification first, or name")
	flags.BoolVar(&f.counts, "counts", false, "how many there are, and not which")
	flags.BoolVar(&f.web, "web", false, "the address of the page that shows them")
	flags.BoolVarP(&f.long, "long", "l", false, "also ids and titles; nothing is cut off")
	flags.IntVar(&f.limit, "limit", 0, "at most `N` rows (default: all)")
	jsonFlag(cmd, &f.json)
	cmd.SetFlagErrorFunc(dashedWord)
	p.completesFlag(cmd, "order", completion.Words("relevance", "newest", "oldest", "name"))
	return p.completes(cmd, true, completion.Query)
}

func (f *findFlags) check() error {
	switch f.order {
	case "", "relevance", "newest", "oldest", "name":
	default:
		return exit.Usagef("--order must be relevance, newest, oldest or name, not %q", f.order)
	}
	if f.counts && (f.web || f.order != "" || f.limit != 0) {
		return exit.Usagef("--counts lists nothing: leave out --order, --limit and --web")
	}
	return f.viewFlags.check()
}

// dashedWord adds to the error about an unknown flag that it may be meant as a part of the query.
func dashedWord(cmd *cobra.Command, err error) error {
	err = cmd.Root().FlagErrorFunc()(cmd, err)
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() == "" {
		return err
	}
	return fmt.Errorf("%w\nwrite a query with a dash in single quotes, and -- before it: labshelf find -- 'ice -raw'", err)
}

// searchAddress is the address of the page that shows what a query finds, printable.
func searchAddress(c *client.Client, q client.SearchQuery) string {
	address := strings.TrimSuffix(c.Base(), "/v1") + "/search?q=" + url.QueryEscape(q.Text)
	if q.Order != "" {
		address += "&order=" + url.QueryEscape(q.Order)
	}
	return display.Printable(address)
}

// find lists what a query finds.
func (p Process) find(ctx context.Context, c *client.Client, q client.SearchQuery, f findFlags) error {
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
	if err := show(p, iter.Seq2[client.Hit, error](hits), hitColumns(ctx, &places{client: c}, f.long), f.view(nothingFound)); err != nil {
		return err
	}
	return p.catchingUp(behind)
}

// nothingFound is shown for a query without hits.
const nothingFound = "Nothing that you may read fits. Fewer or shorter words find more; \"labshelf help search\" has the language of the search."

// catchingUp says on the standard error that the newest changes are not found yet.
func (p Process) catchingUp(behind uint64) error {
	if behind == 0 {
		return nil
	}
	_, err := display.Fprintf(p.Err, "The search is catching up: it does not find the last %d changes yet.\n", behind)
	return err
}

func hitColumns(ctx context.Context, where *places, exact bool) []column[client.Hit] {
	type h = client.Hit
	return []column[h]{
		{"ID", inLong, func(h h) string { return recordOf(h).id }},
		{"KIND", 0, func(h h) string { return h.Kind }},
		{"WHERE", 0, func(h h) string { return where.reference(ctx, h) }},
		{"TITLE", inLong, func(h h) string { return recordOf(h).title }},
		{"SIZE", 0, func(h h) string {
			switch {
			case h.Resource == nil:
				return ""
			case exact:
				return strconv.FormatInt(h.Resource.Bytes, 10)
			}
			return display.Bytes(h.Resource.Bytes)
		}},
		{"MODIFIED", 0, func(h h) string { return display.Time(recordOf(h).modified) }},
		{"MATCHED", 0, func(h h) string { return strings.Join(h.Matched, ", ") }},
	}
}

// foundRecord is what the records of all kinds have.
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

// places are the names of dataspaces, and of sets with those of their dataspaces, by id.
type places struct {
	client     *client.Client
	dataspaces map[string]string
	sets       map[string]string
}

// mostRead is how many sets are read one by one before all are listed: most hits are in few sets.
const mostRead = 20

// reference names a hit as other commands take it. A container that is not readable has its id.
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
			names = map[string]string{} // ids are shown
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
	if len(l.sets) == mostRead {
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

// countFound prints how many hits a query has.
func (p Process) countFound(ctx context.Context, c *client.Client, q client.SearchQuery, asJSON bool) error {
	q.Counts, q.Limit = true, 1
	var first client.SearchPage
	for page, err := range c.SearchPages(ctx, q.At(c.Base()+"/search")) {
		if err != nil {
			return err
		}
		first = page
		break
	}
	if err := p.catchingUp(first.Behind); err != nil {
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

func indexCommand(p Process) *cobra.Command {
	return p.branch("index", "Look at and rebuild the index of the search", indexStatusCommand(p), indexRebuildCommand(p))
}

// indexPoll is the time between two looks at the index.
const indexPoll = 100 * time.Millisecond

func indexStatusCommand(p Process) *cobra.Command {
	var wait, asJSON bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how far the index of the search is (sysadmins)",
		Long: `status shows how far the index of the search has followed the changes: current,
behind, building (it is being made anew, and not everything is found) or failing
(it cannot be written, and is tried again); then the exit code is 1.

With --wait it returns when all that was changed before can be found, with the
text of the files. Where that takes longer than --timeout, it fails.`,
		Example: "  labshelf index status\n  labshelf put runs runs-2026 && labshelf index status --wait",
		Args:    cobra.NoArgs,
	}
	flags := cmd.Flags()
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if flags.Changed("timeout") && (!wait || timeout <= 0) {
			return exit.Usagef("--timeout is for --wait, and longer than nothing")
		}
		return nil
	}
	p.remote(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		x, err := c.Maintenance.Index(ctx)
		if err == nil && wait {
			x, err = awaitIndex(ctx, c, x, timeout)
		}
		if err != nil {
			return err
		}
		if asJSON {
			err = display.WriteJSON(p.Out, x)
		} else {
			err = p.showIndex(x)
		}
		if err == nil && x.State == client.IndexFailing {
			err = errors.New("the index is failing")
		}
		return err
	})
	flags.BoolVar(&wait, "wait", false, "return when all that was changed before can be found")
	flags.DurationVar(&timeout, "timeout", 5*time.Minute, "wait for `DURATION` at most, such as 30s or 10m")
	jsonFlag(cmd, &asJSON)
	return p.completes(cmd, false)
}

// awaitIndex waits until the index holds every commit made before x, and returns its new state.
func awaitIndex(ctx context.Context, c *client.Client, x client.Index, timeout time.Duration) (client.Index, error) {
	committed := x.Entries + x.Behind
	end := time.NewTimer(timeout)
	defer end.Stop()
	poll := time.NewTicker(indexPoll)
	defer poll.Stop()
	for x.State == client.IndexBuilding || x.Entries < committed || x.Texts != client.IndexCurrent || x.Schemas == client.IndexBehind {
		select {
		case <-poll.C:
		case <-end.C:
			return x, fmt.Errorf("after %s the index is not current: it is %s, %d changes behind%s", display.Duration(timeout), x.State, x.Behind, because(x))
		case <-ctx.Done():
			return x, ctx.Err()
		}
		var err error
		if x, err = c.Maintenance.Index(ctx); err != nil {
			return x, err
		}
	}
	return x, nil
}

// because is the reason of an index that is failing, as the end of a sentence.
func because(x client.Index) string {
	if x.Failure == "" {
		return ""
	}
	return ": " + display.Printable(x.Failure)
}

func (p Process) showIndex(x client.Index) error {
	t := display.Table{}
	t.Add("state", x.State+because(x))
	t.Add("changes", fmt.Sprintf("%d followed, %d not yet", x.Entries, x.Behind))
	texts := "of all files"
	if x.Texts != client.IndexCurrent {
		texts = "of some files not yet"
	}
	t.Add("texts", texts)
	if x.Schemas == client.IndexBehind {
		t.Add("schemas", "is:incomplete does not know their last change yet")
	}
	t.Add("documents", strconv.FormatInt(x.Documents, 10))
	t.Add("size", display.Bytes(x.Bytes))
	return t.Write(p.Out, display.Unlimited)
}

func indexRebuildCommand(p Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Throw the index of the search away, to be made anew (sysadmins)",
		Long: `rebuild throws the index of the search away. The service makes it anew in the
background, from its records and files; meanwhile a search finds less. Nothing
else is affected. A damaged index is found and rebuilt without this command.`,
		Example: "  labshelf index rebuild && labshelf index status --wait",
		Args:    cobra.NoArgs,
	}
	p.remote(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		x, err := c.Maintenance.RebuildIndex(ctx)
		if err != nil {
			return err
		}
		return p.done(x, asJSON, "The index is being made anew: \"labshelf index status --wait\" returns when all is found again.\n")
	})
	jsonFlag(cmd, &asJSON)
	return p.completes(cmd, false)
}
