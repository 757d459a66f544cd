package bolt

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/metadata/tables"
	"labshelf/paging"
)

// shelf is a store full of resources, and a list of the same resources.
type shelf struct {
	*Store
	dataspaces, sets []metadata.ID
	setRows          []metadata.Set
	resources        []metadata.Resource
}

// idAt returns an id that sorts by kind and number.
func idAt(kind byte, n int) metadata.ID {
	return metadata.ID{0: kind, 13: byte(n >> 16), 14: byte(n >> 8), 15: byte(n)}
}

// fillShelf adds resources to this many dataspaces of two sets each. Four of five resources are
// active. Some have been changed, so that the order of stamps differs from the order of ids.
func fillShelf(t testing.TB, dataspaces, resources int) *shelf {
	t.Helper()
	s := &shelf{Store: openStore(t)}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range dataspaces {
		s.dataspaces = append(s.dataspaces, idAt('D', i))
		for j := range 2 {
			id := idAt('S', 2*i+j)
			s.sets = append(s.sets, id)
			s.setRows = append(s.setRows, metadata.Set{
				Record: metadata.Record{ID: id, State: state(i+j, 3)}, DataspaceID: idAt('D', i), Name: id.String(),
			})
		}
	}
	for i := range resources {
		set := random.IntN(len(s.sets))
		r := metadata.Resource{
			Record: metadata.Record{ID: idAt('R', i), State: state(i, 5), Created: 1},
			SetID:  s.sets[set], DataspaceID: s.setRows[set].DataspaceID, Digest: blobs.Digest{0: byte(i), 1: byte(i >> 8), 2: byte(i >> 16)},
			Name: fmt.Sprintf("%c/%d", 'a'+rune(random.IntN(3)), random.IntN(20)),
		}
		s.resources = append(s.resources, r)
	}
	for from := 0; from < resources; from += 10_000 {
		s.change(t, func(tx *metadata.Tx) error {
			for i := range s.resources[from:min(from+10_000, resources)] {
				r := &s.resources[from+i]
				r.Modified = tx.Stamp()
				if err := tx.Resources.Put(*r); err != nil {
					return err
				}
			}
			return nil
		})
	}
	s.change(t, func(tx *metadata.Tx) error {
		var err error
		for _, set := range s.setRows {
			err = errors.Join(err, tx.Sets.Put(set))
		}
		for range resources / 20 {
			r := &s.resources[random.IntN(len(s.resources))]
			r.Modified = tx.Stamp()
			err = errors.Join(err, tx.Resources.Put(*r))
		}
		return err
	})
	return s
}

func (s *shelf) change(t testing.TB, fn func(*metadata.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// state returns Deleted for one of each group of this size, and Active for the others.
func state(i, of int) metadata.State {
	if i%of == of-1 {
		return metadata.Deleted
	}
	return metadata.Active
}

// expected returns the first resources of a range. It checks all resources.
func (s *shelf) expected(q metadata.ResourceRange, limit int) []metadata.Resource {
	order := func(a, b metadata.Resource) int {
		switch q.Order {
		case paging.ByName:
			return cmp.Or(cmp.Compare(a.Name, b.Name), a.ID.Compare(b.ID))
		case paging.Newest:
			return cmp.Or(cmp.Compare(b.Modified, a.Modified), b.ID.Compare(a.ID))
		}
		return cmp.Or(cmp.Compare(a.Modified, b.Modified), a.ID.Compare(b.ID))
	}
	at := metadata.Resource{Record: metadata.Record{Modified: metadata.Stamp(q.After.Stamp), ID: q.After.ID}, Name: q.After.Name}
	var found []metadata.Resource
	for _, r := range s.resources {
		within := slices.Contains(q.Dataspaces, r.DataspaceID) || q.Dataspaces == nil
		if q.Set != (metadata.ID{}) {
			within = r.SetID == q.Set
		}
		if within && q.States&paging.States(r.State) != 0 && r.Modified > q.Since && (q.Until == 0 || r.Modified < q.Until) &&
			(q.Name == nil || r.Name == *q.Name) && strings.HasPrefix(r.Name, q.NamePrefix) &&
			(q.After == paging.Position{} || order(r, at) > 0) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, order)
	return found[:min(limit, len(found))]
}

// cost is the cost of the listings in a transaction, and the number of cursor steps over records.
type cost struct {
	tables.Cost
	recordSteps int
}

// first reads up to limit items, and returns them with their cost.
func first[T any](t testing.TB, s *Store, limit int, of func(*metadata.Tx) iter.Seq2[T, error]) (items []T, cost cost) {
	t.Helper()
	_, err := s.read(t.Context(), func(k *kv, tx *tables.Tx) error {
		for item, err := range of(tx.Contract()) {
			if err != nil {
				return err
			}
			if items = append(items, item); len(items) == limit {
				break
			}
		}
		cost.Cost, cost.recordSteps = tx.Cost(), k.recordSteps
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return items, cost
}

// checkCost checks the cost of a page against the guarantee.
func checkCost(t errorer, cost cost, limit, ranges int) {
	t.Helper()
	if cost.Index > limit+2*ranges || cost.Records > limit+ranges || cost.recordSteps > 2*cost.Records {
		t.Errorf("a page of %d from %d ranges cost %+v", limit, ranges, cost)
	}
}

type errorer interface {
	Helper()
	Errorf(format string, args ...any)
}

// TestCostOfResourceRanges draws ranges and pages of every kind, and compares each with a search
// through all resources.
func TestCostOfResourceRanges(t *testing.T) {
	t.Parallel()
	s := fillShelf(t, 50, 3000)
	rapid.Check(t, func(rt *rapid.T) {
		q := s.drawRange(rt)
		limit := rapid.IntRange(1, 120).Draw(rt, "limit")
		ranges := 1
		if q.Set == (metadata.ID{}) && q.Dataspaces != nil {
			ranges = len(q.Dataspaces)
		}
		if q.States == paging.All {
			ranges *= 2
		}
		for page := 0; page < 3; page++ {
			want := s.expected(q, limit)
			got, cost := first(t, s.Store, limit, func(tx *metadata.Tx) iter.Seq2[metadata.Resource, error] { return tx.Resources.Range(q) })
			if !slices.Equal(want, got) {
				rt.Fatalf("%+v, page %d (-want +got):\n%s", q, page, gocmp.Diff(want, got))
			}
			checkCost(rt, cost, limit, ranges)
			paged, cost := first(t, s.Store, limit, func(tx *metadata.Tx) iter.Seq2[metadata.Resource, error] { return metadatatest.Paged(tx, q) })
			if !slices.Equal(want, paged) {
				rt.Fatalf("%+v, page %d, borrowed (-want +got):\n%s", q, page, gocmp.Diff(want, paged))
			}
			checkCost(rt, cost, limit, ranges)
			if len(got) == 0 {
				return
			}
			last := got[len(got)-1]
			q.After = paging.Position{Stamp: int64(last.Modified), ID: last.ID}
			if q.Order == paging.ByName {
				q.After = paging.Position{Name: last.Name, ID: last.ID}
			}
		}
	})
	checkIntegrity(t, s.Store)
}

func (s *shelf) drawRange(rt *rapid.T) (q metadata.ResourceRange) {
	q.States = rapid.SampledFrom([]paging.States{paging.Active, paging.Deleted, paging.All}).Draw(rt, "states")
	q.Order = rapid.SampledFrom([]paging.Order{paging.Oldest, paging.Newest, paging.ByName}).Draw(rt, "order")
	place := rapid.IntRange(0, 2).Draw(rt, "place")
	switch {
	case q.Order == paging.ByName || place == 0:
		q.Set = rapid.SampledFrom(s.sets).Draw(rt, "set")
	case place == 1:
		q.Dataspaces = rapid.Permutation(s.dataspaces).Draw(rt, "dataspaces")[:rapid.IntRange(0, len(s.dataspaces)).Draw(rt, "of them")]
	}
	some := rapid.SampledFrom(s.resources)
	if q.Order != paging.ByName {
		if rapid.Bool().Draw(rt, "since") {
			q.Since = some.Draw(rt, "since the stamp of").Modified
		}
		if rapid.Bool().Draw(rt, "until") {
			q.Until = some.Draw(rt, "until the stamp of").Modified
		}
		return q
	}
	switch rapid.IntRange(0, 2).Draw(rt, "names") {
	case 1:
		q.Name = new(some.Draw(rt, "named like").Name)
	case 2:
		q.NamePrefix = some.Draw(rt, "named nearly like").Name[:rapid.IntRange(1, 3).Draw(rt, "letters")]
	}
	return q
}

// TestCostOfSetRanges is the same test for sets.
func TestCostOfSetRanges(t *testing.T) {
	t.Parallel()
	s := fillShelf(t, 50, 0)
	for _, states := range []paging.States{paging.Active, paging.Deleted, paging.All} {
		for _, dataspaces := range [][]metadata.ID{nil, {}, s.dataspaces[7:8], s.dataspaces[10:30], s.dataspaces} {
			q := metadata.SetRange{States: states, Dataspaces: dataspaces}
			var want, got []metadata.Set
			for _, set := range s.setRows {
				if states&paging.States(set.State) != 0 && (dataspaces == nil || slices.Contains(dataspaces, set.DataspaceID)) {
					want = append(want, set)
				}
			}
			ranges := max(1, len(dataspaces)) * (1 + int(states)/int(paging.All))
			for limit := 7; ; {
				page, cost := first(t, s.Store, limit, func(tx *metadata.Tx) iter.Seq2[metadata.Set, error] { return tx.Sets.Range(q) })
				checkCost(t, cost, limit, ranges)
				if len(page) == 0 {
					break
				}
				got = append(got, page...)
				q.After = page[len(page)-1].ID
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("%+v (-want +got):\n%s", q, diff)
			}
		}
	}
	checkIntegrity(t, s.Store)
}

// TestFreshRecordsAreAdjacent tests that in the order of creation, forwards and backwards, the next
// record is always adjacent.
func TestFreshRecordsAreAdjacent(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	err := s.Update(t.Context(), func(tx *metadata.Tx) error {
		for i := range 500 {
			stamp := tx.Stamp()
			r := metadata.Resource{
				Record: metadata.Record{ID: metadata.NewID(stamp), State: metadata.Active, Modified: stamp},
				SetID:  idAt('S', i%3), DataspaceID: idAt('D', 0), Name: "r",
			}
			if err := tx.Resources.Put(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range []paging.Order{paging.Oldest, paging.Newest} {
		q := metadata.ResourceRange{Order: order, States: paging.Active}
		rows, cost := first(t, s, 500, func(tx *metadata.Tx) iter.Seq2[metadata.Resource, error] { return tx.Resources.Range(q) })
		if len(rows) != 500 || cost.recordSteps != 500 {
			t.Errorf("order %d: %d resources cost %+v", order, len(rows), cost)
		}
	}
	checkIntegrity(t, s)
}

// collected returns all items of a sequence.
func collected[T any](items iter.Seq2[T, error]) (all []T, err error) {
	for item, err := range items {
		if err != nil {
			return all, err
		}
		all = append(all, item)
	}
	return all, nil
}

// TestRangesInTheirOwnTransaction deletes all rows of some pages of the indexes, and reads the
// remaining rows before the commit. bbolt then has pages without keys, at which its Prev stops.
func TestRangesInTheirOwnTransaction(t *testing.T) {
	t.Parallel()
	s := fillShelf(t, 1, 3000)
	set := s.sets[0]
	for round, keep := range []func(i int) bool{
		func(i int) bool { return i < 3 || i > 2990 },
		func(i int) bool { return i == 1 },
		func(int) bool { return false },
	} {
		s.change(t, func(tx *metadata.Tx) error {
			for i := range s.resources {
				r := &s.resources[i]
				if !keep(i) && r.State == metadata.Active {
					if r.State = metadata.Deleted; r.SetID == set {
						r.SetID = s.sets[1]
					}
				}
				if err := tx.Resources.Put(*r); err != nil {
					return err
				}
			}
			for _, q := range []metadata.ResourceRange{
				{Order: paging.Oldest}, {Order: paging.Newest}, {Order: paging.Newest, Set: set}, {Order: paging.ByName, Set: set},
				{Order: paging.Newest, Dataspaces: s.dataspaces},
			} {
				for _, q.States = range []paging.States{paging.Active, paging.Deleted, paging.All} {
					want := s.expected(q, len(s.resources))
					got, err := collected(tx.Resources.Range(q))
					if err != nil {
						return err
					}
					paged, err := collected(metadatatest.Paged(tx, q))
					if err != nil || !slices.Equal(want, paged) {
						t.Errorf("round %d: %+v: %d resources borrowed, want %d (%v)", round, q, len(paged), len(want), err)
					}
					if !slices.Equal(want, got) {
						t.Errorf("round %d: %+v: %d resources, want %d", round, q, len(got), len(want))
					}
				}
			}
			return nil
		})
	}
	checkIntegrity(t, s.Store)
}

// TestNoSuchListing tests that a listing without an index returns an error, and never a wrong list.
func TestNoSuchListing(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		for _, q := range []metadata.ResourceRange{
			{Order: paging.ByName, States: paging.All}, {Order: paging.ByID, States: paging.All, Set: idAt('S', 1)}, {Order: 9},
		} {
			errs := 0
			for _, err := range tx.Resources.Range(q) {
				if err != nil {
					errs++
				}
			}
			if tx.Resources.Page(q, func(*metadata.Resource) bool { return true }) == nil {
				t.Errorf("%+v: a page", q)
			}
			if errs != 1 {
				t.Errorf("%+v: %d errors", q, errs)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	checkIntegrity(t, s)
}
