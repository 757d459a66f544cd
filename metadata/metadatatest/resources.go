package metadatatest

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"labshelf/metadata"
	"labshelf/paging"
)

type resources struct {
	table[metadata.ID, metadata.Resource]
}

func (t resources) Range(q metadata.ResourceRange) iter.Seq2[metadata.Resource, error] {
	order := orderOf(q.Order)
	matches := func(r metadata.Resource) bool {
		return inContainer(q, r) && has(q.States, r.State) &&
			r.Modified > q.Since && (q.Until == 0 || r.Modified < q.Until) &&
			(q.Name == nil || r.Name == *q.Name) && strings.HasPrefix(r.Name, q.NamePrefix) &&
			(q.After == paging.Position{} || order(r, at(q.After)) > 0)
	}
	all := t.all(matches, order)
	if q.Keys {
		return keysOf(all, q.Order)
	}
	return all
}

// Page clears the borrowed resource after fn returns.
func (t resources) Page(q metadata.ResourceRange, fn func(*metadata.Resource) (more bool)) error {
	var borrowed metadata.Resource
	for row, err := range t.Range(q) {
		if err != nil {
			return err
		}
		borrowed = row
		more := fn(&borrowed)
		borrowed = metadata.Resource{}
		if !more {
			return nil
		}
	}
	return nil
}

func inContainer(q metadata.ResourceRange, r metadata.Resource) bool {
	if q.Set != (metadata.ID{}) {
		return r.SetID == q.Set
	}
	return within(q.Dataspaces, r.DataspaceID)
}

func orderOf(order paging.Order) func(a, b metadata.Resource) int {
	switch order {
	case paging.ByName:
		return func(a, b metadata.Resource) int { return cmp.Or(cmp.Compare(a.Name, b.Name), a.ID.Compare(b.ID)) }
	case paging.ByNameDown:
		return func(a, b metadata.Resource) int { return orderOf(paging.ByName)(b, a) }
	case paging.Newest:
		return func(a, b metadata.Resource) int {
			return cmp.Or(cmp.Compare(b.Modified, a.Modified), b.ID.Compare(a.ID))
		}
	default:
		return func(a, b metadata.Resource) int {
			return cmp.Or(cmp.Compare(a.Modified, b.Modified), a.ID.Compare(b.ID))
		}
	}
}

// at returns a resource at the position.
func at(p paging.Position) metadata.Resource {
	return metadata.Resource{Record: metadata.Record{ID: p.ID, Modified: metadata.Stamp(p.Stamp)}, Name: p.Name}
}

// Children collects all children in a list, and yields the ones after the position.
func (t resources) Children(q metadata.ResourceRange, file func(*metadata.Resource) bool, folder func(string) bool) error {
	after, order := q.After, orderOf(q.Order)
	q.After = paging.Position{}
	var all []metadata.Resource // a folder has no id
	named := map[string]bool{}
	add := func(r metadata.Resource) {
		rest, within := strings.CutPrefix(r.Name, q.NamePrefix)
		element, _, below := strings.Cut(rest, "/")
		if path := q.NamePrefix + element + "/"; within && below && !named[path] {
			named[path] = true
			all = append(all, metadata.Resource{Name: path})
		} else if !below && r.ID != (metadata.ID{}) {
			all = append(all, r)
		}
	}
	rows, err := list(t.Range(q))
	for _, r := range rows {
		add(r)
	}
	for _, f := range rowsOf[metadata.FolderKey, metadata.Folder](t.state) {
		if f.SetID == q.Set && has(q.States, metadata.Active) {
			add(metadata.Resource{Name: f.Path})
		}
	}
	slices.SortFunc(all, order)
	for _, r := range all {
		switch {
		case after != paging.Position{} && order(r, at(after)) <= 0:
		case r.ID == metadata.ID{} && !folder(r.Name), r.ID != metadata.ID{} && !file(&r):
			return err
		}
	}
	return err
}

// Child is a file or a folder of Resources.Children.
type Child struct {
	Folder string
	File   metadata.Resource
}

// childrenOf yields copies of the children.
func childrenOf(t metadata.Resources, q metadata.ResourceRange) iter.Seq2[Child, error] {
	return func(yield func(Child, error) bool) {
		more := true
		give := func(c Child) bool {
			more = yield(c, nil)
			return more
		}
		err := t.Children(q,
			func(r *metadata.Resource) bool { return give(Child{File: CloneResource(r)}) },
			func(path string) bool { return give(Child{Folder: path}) })
		if err != nil && more {
			yield(Child{}, err)
		}
	}
}

// Position returns the position after which a range continues after this child.
func (c Child) Position() paging.Position {
	if c.Folder != "" {
		return paging.Position{Name: c.Folder}
	}
	return paging.Position{Name: c.File.Name, ID: c.File.ID}
}

// Paged yields copies of the borrowed rows of Resources.Page.
func Paged(tx *metadata.Tx, q metadata.ResourceRange) iter.Seq2[metadata.Resource, error] {
	return func(yield func(metadata.Resource, error) bool) {
		more := true
		err := tx.Resources.Page(q, func(borrowed *metadata.Resource) bool {
			more = yield(CloneResource(borrowed), nil)
			return more
		})
		if err != nil && more {
			yield(metadata.Resource{}, err)
		}
	}
}

// CloneResource returns a copy of a borrowed row that remains valid.
func CloneResource(borrowed *metadata.Resource) metadata.Resource {
	r := *borrowed
	for _, text := range []*string{&r.Name, &r.Description, &r.Format, &r.MimeType, &r.Filename, &r.Descriptive} {
		*text = strings.Clone(*text)
	}
	return r
}

// keysOf yields the fields of the resources that an index with this order contains.
func keysOf(all iter.Seq2[metadata.Resource, error], order paging.Order) iter.Seq2[metadata.Resource, error] {
	return func(yield func(metadata.Resource, error) bool) {
		for r, err := range all {
			var key metadata.Resource
			if key.ID = r.ID; order.ByNames() {
				key.Name = r.Name
			} else {
				key.Modified = r.Modified
			}
			if !yield(key, err) {
				return
			}
		}
	}
}
