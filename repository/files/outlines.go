package files

import (
	"context"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
)

// Bounds of an outline.
const (
	maxOutlined = 200_000 // maximum number of entries counted
	maxMarks    = 1000
)

// Outline is the length of a listing and the positions of its pages. If Bounded is true, the
// listing is longer, and Total and Marks cover only the counted part.
type Outline struct {
	Total   int
	Bounded bool
	Marks   []Mark
}

// Mark is the beginning of a page after the first one. Index is the number of entries before it.
// Name and Modified belong to the last entry before it.
type Mark struct {
	Index    int
	Name     string         // if ordered by name; the path of a folder
	Modified metadata.Stamp // if ordered by time
	Page     string         // token
}

// Outline outlines the listing of a set that List would return for the same
// parameters. It reads only an index, up to 200,000 entries, or one entry for each folder.
func (s *Files) Outline(ctx context.Context, p auth.Principal, req core.ListRequest) (o Outline, err error) {
	err = s.core.ReadDurable(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		q, err := s.core.Query(tx, p, paging.SetResources, req)
		if err != nil || q.Until.Set && q.Until.At == 0 {
			return err
		}
		within, err := resourceRange(tx, p, &q)
		if err != nil {
			return err
		}
		within.Keys, o = true, Outline{Marks: []Mark{}}
		most, last := min(maxOutlined, maxMarks*q.Limit), position{byName: q.Order.ByNames()}
		var failed error
		count := func(at func()) (more bool) {
			if o.Bounded = o.Total == most; o.Bounded {
				return false
			}
			if o.Total > 0 && o.Total%q.Limit == 0 {
				failed = o.mark(s, q, last.position())
			}
			if o.Total++; o.Total%q.Limit == 0 {
				at()
			}
			return failed == nil
		}
		file := func(r *metadata.Resource) bool { return count(func() { last.at(r) }) }
		if q.Folders {
			err = tx.Resources.Children(within, file, func(path string) bool { return count(func() { last.behind(path) }) })
		} else {
			err = tx.Resources.Page(within, file)
		}
		if err == nil {
			err = failed
		}
		return err
	})
	return o, err
}

func (o *Outline) mark(s *Files, q paging.Query, last paging.Position) error {
	ends, err := s.core.Ends(q, last)
	o.Marks = append(o.Marks, Mark{Index: o.Total, Name: last.Name, Modified: metadata.Stamp(last.Stamp), Page: ends.Next})
	return err
}
