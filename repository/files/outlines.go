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
	maxOutlined = 200_000 // what is counted
	maxMarks    = 1000
)

// Outline is how long a listing is, and where its pages begin. Bounded: there is more; the total
// and the marks are those of what was counted.
type Outline struct {
	Total   int
	Bounded bool
	Marks   []Mark
}

// Mark is the beginning of a page, but of the first one: how many are before it, and the last of
// these.
type Mark struct {
	Index    int
	Name     string         // in an order by name; of a folder its path
	Modified metadata.Stamp // in an order by time
	Page     string         // token
}

// OutlineResources outlines what ListResources would list of a set with the same parameters. It
// reads an index alone, up to 200,000 of its entries, and with folders one for each.
func (s *Files) OutlineResources(ctx context.Context, p auth.Principal, req core.ListRequest) (o Outline, err error) {
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
