package metadatatest

import (
	"fmt"
	"slices"
	"testing"

	"labshelf/metadata"
	"labshelf/paging"
)

// manyResources returns 72 resources in four sets of three dataspaces, three at each stamp, with
// few different names.
func manyResources() (rows []any) {
	names := []string{"a", "a\x01", "a\xff", "ab", "b", "é", "é\x01x"}
	for n := range byte(72) {
		set := 11 + n%4
		rows = append(rows, metadata.Resource{
			Record: metadata.Record{
				ID: id(100 + n), State: metadata.State(1 + n/4%2), Modified: metadata.Stamp(10 + int(n)/3*7%24*10),
			},
			SetID: id(set), DataspaceID: id(1 + (set-11)%3), Name: names[int(n)%len(names)],
		})
	}
	return rows
}

// byStamp returns listings by stamp, oldest first, for all containers, states and several bounds.
func byStamp() (all []metadata.ResourceRange) {
	bounds := []metadata.Stamp{0, 120, 241}
	for _, place := range []metadata.ResourceRange{
		{}, {Dataspaces: []metadata.ID{}}, {Dataspaces: []metadata.ID{id(1)}}, {Dataspaces: []metadata.ID{id(3), id(1)}},
		{Dataspaces: []metadata.ID{id(2), id(9), id(3), id(1)}}, {Set: id(11)}, {Set: id(14)}, {Set: id(15)},
	} {
		for _, of := range states() {
			for window := range len(bounds) * len(bounds) {
				q := place
				q.Order, q.States = paging.Oldest, of
				q.Since, q.Until = bounds[window/len(bounds)], bounds[window%len(bounds)]
				all = append(all, q)
			}
		}
	}
	return all
}

// byName returns listings by name, for all states, and for names and prefixes that exist or nearly
// exist.
func byName() (all []metadata.ResourceRange) {
	filters := []metadata.ResourceRange{{}}
	for _, text := range []string{"a", "a\x01", "a\xff", "ab", "b", "é", "\xc3", "é\x01x", "c", "\xff", "\x01"} {
		filters = append(filters, metadata.ResourceRange{Name: &text}, metadata.ResourceRange{NamePrefix: text})
	}
	for _, q := range filters {
		q.Order = paging.ByName
		for _, q.Set = range []metadata.ID{id(11), id(14), id(15)} {
			for _, q.States = range states() {
				all = append(all, q)
			}
		}
	}
	return all
}

// byNameDown returns the listings of byName in reverse order.
func byNameDown() []metadata.ResourceRange {
	return mapped(byName(), func(q metadata.ResourceRange) metadata.ResourceRange {
		q.Order = paging.ByNameDown
		return q
	})
}

func newest(q metadata.ResourceRange) metadata.ResourceRange {
	q.Order = paging.Newest
	return q
}

// listAll lists range after range.
func listAll(tx *metadata.Tx, ranges []metadata.ResourceRange) (all [][]metadata.Resource, err error) {
	for _, q := range ranges {
		items, err := list(tx.Resources.Range(q))
		if err != nil {
			return nil, fmt.Errorf("%+v: %w", q, err)
		}
		all = append(all, items)
	}
	return all, nil
}

func sameListings(t *testing.T, ranges []metadata.ResourceRange, got, want [][]metadata.Resource) {
	t.Helper()
	for i, q := range ranges {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("%+v:\ngot  %s\nwant %s", q, resourceIDs(got[i]), resourceIDs(want[i]))
		}
	}
}

func resourceIDs(rows []metadata.Resource) string {
	return ids(mapped(rows, func(r metadata.Resource) metadata.ID { return r.ID })...)
}

// sameAsObvious compares ranges with the results of Memory, which reads every row.
func sameAsObvious(t *testing.T, s *store, rows []any, ranges []metadata.ResourceRange) {
	t.Helper()
	read := func(tx *metadata.Tx) ([][]metadata.Resource, error) { return listAll(tx, ranges) }
	sameListings(t, ranges, view(t, s, read), view(t, onlyHolds(t, rows...), read))
}

func testEveryRange(t *testing.T, s *store) {
	rows := manyResources()
	s.put(t, rows...)
	positions := []paging.Position{{}, {Stamp: 100}, {Stamp: 105, ID: id(100)}, {Stamp: 240, ID: maxID()}, {Stamp: 10, ID: id(100)}}
	for _, n := range []int{0, 33, 71} {
		r := rows[n].(metadata.Resource)
		positions = append(positions, paging.Position{Stamp: int64(r.Modified), ID: r.ID})
	}
	var ranges []metadata.ResourceRange
	for _, q := range byStamp() {
		for _, q.After = range positions {
			ranges = append(ranges, q, newest(q))
		}
	}
	sameAsObvious(t, s, rows, ranges)
}

func testEveryNameRange(t *testing.T, s *store) {
	rows := manyResources()
	s.put(t, rows...)
	sameAsObvious(t, s, rows, slices.Concat(byName(), byNameDown()))
}

// testPages reads listings page by page, like clients. Each page begins after the end of the
// previous one.
func testPages(t *testing.T, s *store) {
	s.put(t, manyResources()...)
	listings := slices.Concat(byStamp(), mapped(byStamp(), newest), byName(), byNameDown())
	whole := view(t, s, func(tx *metadata.Tx) ([][]metadata.Resource, error) { return listAll(tx, listings) })
	for _, size := range []int{1, 7} {
		joined := view(t, s, func(tx *metadata.Tx) (all [][]metadata.Resource, err error) {
			for i, q := range listings {
				rows, err := pages(tx, q, size, len(whole[i]))
				if err != nil {
					return nil, err
				}
				all = append(all, rows)
			}
			return all, nil
		})
		sameListings(t, listings, joined, whole)
	}
}

// pages reads page after page until the number of rows exceeds most.
func pages(tx *metadata.Tx, q metadata.ResourceRange, size, most int) (joined []metadata.Resource, err error) {
	for len(joined) <= most {
		page, err := take(tx.Resources.Range(q), size)
		if err != nil || len(page) == 0 {
			return joined, err
		}
		joined = append(joined, page...)
		last := page[len(page)-1]
		q.After = paging.Position{ID: last.ID, Name: last.Name}
		if !q.Order.ByNames() {
			q.After = paging.Position{ID: last.ID, Stamp: int64(last.Modified)}
		}
	}
	return joined, nil
}

// testOwnWrites moves hundreds of adjacent rows in one transaction, and lists the remaining rows
// between and next to them. An ordered store then reads pages that the transaction itself has
// emptied.
func testOwnWrites(t *testing.T, s *store) {
	const many = 600
	rows := make([]any, 0, many)
	for n := range many {
		rows = append(rows, metadata.Resource{
			Record: metadata.Record{ID: metadata.ID{0: 1, 14: byte(n >> 8), 15: byte(n)}, State: metadata.Active, Modified: metadata.Stamp(1 + n)},
			SetID:  id(11), DataspaceID: id(1), Name: fmt.Sprintf("name-%04d", n),
		})
	}
	obvious := onlyHolds(t, rows...)
	s.put(t, rows...)
	for _, run := range []struct{ from, to int }{{100, 500}, {0, 80}, {520, many}} {
		ranges := aroundRun(run.from, run.to)
		move := func(listed *[][]metadata.Resource) func(*metadata.Tx) error {
			return func(tx *metadata.Tx) (err error) {
				for _, row := range rows[run.from:run.to] {
					r := row.(metadata.Resource)
					r.State, r.Modified = metadata.Deleted, r.Modified+5000
					if err := tx.Resources.Put(r); err != nil {
						return err
					}
				}
				*listed, err = listAll(tx, ranges)
				return err
			}
		}
		var got, want [][]metadata.Resource
		s.update(t, move(&got))
		if err := obvious.Update(t.Context(), move(&want)); err != nil {
			t.Fatal(err)
		}
		sameListings(t, ranges, got, want)
	}
}

// aroundRun returns ranges with bounds in and next to a run of moved resources.
func aroundRun(from, to int) (all []metadata.ResourceRange) {
	for _, at := range []int{from, (from + to) / 2, to, to + 5000} {
		for _, of := range states() {
			all = append(all, []metadata.ResourceRange{
				{Order: paging.Oldest, States: of, After: paging.Position{Stamp: int64(at), ID: id(1)}},
				{Order: paging.Newest, States: of, After: paging.Position{Stamp: int64(at), ID: id(1)}},
				{Order: paging.Oldest, States: of, Set: id(11), Since: metadata.Stamp(at)},
				{Order: paging.Newest, States: of, Set: id(11), Until: metadata.Stamp(at)},
				{Order: paging.ByName, States: of, Set: id(11), After: paging.Position{Name: fmt.Sprintf("name-%04d", at), ID: id(1)}},
			}...)
		}
	}
	return all
}
