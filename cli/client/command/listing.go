package command

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// View selects the form of a listing and its optional columns.
type View struct {
	JSON  bool
	limit int    // number of rows; 0: all
	None  string // text for display if the listing is empty
	Also  columnSet
}

type columnSet uint8

// The conditions under which a column is shown. They combine.
const (
	InLong  columnSet = 1 << iota // only with --long
	InState                       // only if active and deleted records are mixed
	InMany                        // only if the records belong to several containers

	Whole columnSet = 1 << 7 // never truncated, since people copy it
)

// Column is a column of a table of records.
type Column[T any] struct {
	Head string
	Only columnSet // condition for the column; 0: always
	Cell func(T) string
}

// tableChunk is the number of rows after which a part of a table is written, so that output starts
// early and memory is bounded.
const tableChunk = 1000

// Show writes a listing as a table, or each record as a line of JSON.
func Show[T any](p Process, records iter.Seq2[T, error], columns []Column[T], v View) error {
	t, width, shown := display.Table{}, display.Width(p.Out), 0
	if v.Also&InLong != 0 {
		width = display.Unlimited // truncated text cannot be copied
	}
	var cells []func(T) string
	for _, c := range columns {
		if only := c.Only &^ Whole; only&v.Also == only {
			t.Whole = append(t.Whole, c.Only&Whole != 0)
			t.Head, cells = append(t.Head, c.Head), append(cells, c.Cell)
		}
	}
	for record, err := range records {
		if err != nil {
			return err
		}
		shown++
		if v.JSON {
			err = display.WriteJSON(p.Out, record)
		} else {
			var row []string
			for _, cell := range cells {
				row = append(row, cell(record))
			}
			t.Add(row...)
			if len(t.Rows) == tableChunk {
				err = t.Write(p.Out, width)
			}
		}
		if err != nil || shown == v.limit {
			return cmp.Or(err, t.Write(p.Out, width))
		}
	}
	if shown == 0 && !v.JSON && v.None != "" {
		_, err := display.Fprintln(p.Err, v.None)
		return err
	}
	return t.Write(p.Out, width)
}

// Only yields one record as a listing.
func Only[T any](record T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) { yield(record, nil) }
}

// DataspaceColumns returns the columns of a listing of dataspaces.
func DataspaceColumns() []Column[client.Dataspace] {
	type d = client.Dataspace
	return []Column[d]{
		{"ID", InLong, func(d d) string { return d.ID }},
		{"NAME", 0, func(d d) string { return d.Name }},
		{"TITLE", 0, func(d d) string { return d.Title }},
		{"VISIBILITY", 0, func(d d) string { return d.Visibility }},
		{"ORIGIN", InLong, func(d d) string { return d.Origin }},
		{"MODIFIED", 0, func(d d) string { return display.Time(d.Modified.Time) }},
		{"STATE", InState, func(d d) string { return d.State }},
	}
}

// SetColumns returns the columns of sets. In listings of several dataspaces, dataspaces contains
// the names to show.
func SetColumns(dataspaces map[string]string) []Column[client.Set] {
	type s = client.Set
	return []Column[s]{
		{"ID", InLong, func(s s) string { return s.ID }},
		{"DATASPACE", InMany, func(s s) string { return dataspaces[s.DataspaceID] }},
		{"NAME", 0, func(s s) string { return s.Name }},
		{"TITLE", 0, func(s s) string { return s.Title }},
		{"MODIFIED", 0, func(s s) string { return display.Time(s.Modified.Time) }},
		{"STATE", InState, func(s s) string { return s.State }},
	}
}

// ResourceColumns returns the columns of resources. In listings of several sets, sets contains the
// names to show. exact selects sizes in bytes.
func ResourceColumns(sets map[string]string, exact bool) []Column[client.Resource] {
	type r = client.Resource
	return []Column[r]{
		{"ID", InLong, func(r r) string { return r.ID }},
		{"SET", InMany, func(r r) string { return sets[r.SetID] }},
		{"NAME", 0, func(r r) string { return r.Name }},
		{"SIZE", 0, func(r r) string {
			if exact {
				return fmt.Sprint(r.Bytes)
			}
			return display.Bytes(r.Bytes)
		}},
		{"FORMAT", InLong, func(r r) string { return r.Format }},
		{"MODIFIED", 0, func(r r) string { return display.Time(r.Modified.Time) }},
		{"STATE", InState, func(r r) string {
			switch {
			case r.Purged:
				return "purged"
			case r.Damaged:
				return r.State + ", damaged"
			}
			return r.State
		}},
		{"SHA256", InLong, func(r r) string { return r.SHA256.String() }},
	}
}

// UserColumns returns the columns of a listing of users.
func UserColumns() []Column[client.User] {
	type u = client.User
	return []Column[u]{
		{"ID", InLong, func(u u) string { return u.ID }},
		{"USERNAME", 0, func(u u) string { return u.Username }},
		{"FULL NAME", 0, func(u u) string { return u.Fullname }},
		{"SYSADMIN", 0, func(u u) string {
			if u.Sysadmin != nil && *u.Sysadmin {
				return "yes"
			}
			return ""
		}},
		{"ABOUT", InLong, func(u u) string { return strings.Join(strings.Fields(u.About), " ") }},
		{"STATE", InState, func(u u) string { return u.State }},
	}
}

// SetNames returns the names of all sets that the caller may read, by id.
func SetNames(ctx context.Context, c *client.Client, dataspaceID string) (map[string]string, error) {
	names := map[string]string{}
	for s, err := range c.Sets.List(ctx, client.ListOptions{State: client.All, Limit: reference.PageSize, DataspaceID: dataspaceID}) {
		if err != nil {
			return nil, err
		}
		names[s.ID] = s.Name
	}
	return names, nil
}

// stateFlags are --deleted and --all.
type stateFlags struct{ deleted, all bool }

func (f *stateFlags) define(flags *pflag.FlagSet) {
	flags.BoolVar(&f.deleted, "deleted", false, "list only deleted objects")
	flags.BoolVar(&f.all, "all", false, "include deleted objects")
}

// State returns the state of the records to list.
func (f *stateFlags) State() string {
	switch {
	case f.all:
		return client.All
	case f.deleted:
		return client.Deleted
	}
	return client.Active
}

// Check rejects both flags together.
func (f *stateFlags) check() error {
	if f.all && f.deleted {
		return exit.Usagef("--all includes --deleted: give one or the other")
	}
	return nil
}

// ViewFlags are the flags of all listings.
type ViewFlags struct {
	stateFlags
	JSON, Long bool
	Limit      int
}

// Define adds the flags to cmd.
func (f *ViewFlags) Define(cmd *cobra.Command) {
	f.stateFlags.define(cmd.Flags())
	cmd.Flags().BoolVarP(&f.Long, "long", "l", false, "also show ids and all other fields; truncate nothing")
	cmd.Flags().IntVar(&f.Limit, "limit", 0, "at most `N` rows (default: all)")
	JSONFlag(cmd, &f.JSON)
}

// Check returns a usage error if the flags exclude each other or are out of bounds.
func (f *ViewFlags) Check() error {
	if f.Limit < 0 {
		return exit.Usagef("--limit must be a number of rows, 1 or more; omit it to show all rows")
	}
	return f.stateFlags.check()
}

// View returns the view of a listing.
func (f *ViewFlags) View(none string) View {
	v := View{JSON: f.JSON, limit: f.Limit, None: none}
	if f.Long {
		v.Also |= InLong
	}
	if f.all {
		v.Also |= InState
	}
	return v
}

// Page returns the page size for requests.
func (f *ViewFlags) Page() int {
	if f.Limit == 0 {
		return reference.PageSize
	}
	return min(f.Limit, reference.PageSize)
}

// ParseEnd parses the time at which an object expires: an instant, a local time, a date, which
// means its last moment, or a duration from now such as 7d, 12h or 2w. "" is the zero time. The
// error names --expires.
func ParseEnd(text string, now time.Time) (end time.Time, err error) {
	if text == "" {
		return end, nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		end = day.AddDate(0, 0, 1)
	} else if age, ok := parseAge(text); ok {
		end = now.Add(age)
	} else if end, err = InstantOf("expires", text); err != nil {
		end = time.Time{}
	}
	if !end.After(now) || end.Year() > 9999 {
		return end, exit.Usagef("--expires must be in the future, such as 2027-12-31, 2027-12-31T18:00:00Z or 7d, not %q", text)
	}
	return end, nil
}

// parseAge parses a whole number with a unit: s, min, h, d, w.
func parseAge(text string) (age time.Duration, ok bool) {
	digits := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if digits <= 0 || digits > 6 {
		return 0, false
	}
	n, err := strconv.Atoi(text[:digits])
	unit := map[string]time.Duration{
		"s": time.Second, "m": time.Minute, "min": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
	}[strings.TrimSpace(text[digits:])]
	return time.Duration(n) * unit, err == nil && unit > 0 && n < int(math.MaxInt64/unit)
}

// DayOf formats the day of an instant in RFC 3339, in local time; it returns other text unchanged.
func DayOf(text string) string {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.Local().Format(time.DateOnly)
	}
	return text
}

// InstantOf parses the time in a flag, in local time unless it has a zone. A date is its first
// instant.
func InstantOf(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	withT := text
	if len(text) > len(time.DateOnly) && text[len(time.DateOnly)] == ' ' {
		withT = text[:len(time.DateOnly)] + "T" + text[len(time.DateOnly)+1:]
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, withT, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, exit.Usagef("--%s must be a time such as 2027-12-31, \"2027-12-31 18:00\" or 2027-12-31T18:00:00Z, not %q", flag, text)
}

// Sequence yields the results of a call.
func Sequence[T any](all []T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, one := range all {
			if !yield(one, nil) {
				return
			}
		}
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}
