package metadatatest

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"labshelf/metadata"
	"labshelf/paging"
)

func rangeTests() map[string]func(*testing.T, *store) {
	return map[string]func(*testing.T, *store){
		"resources are listed by stamp":            testByStamp,
		"resources are listed by name":             testByName,
		"every range equals a scan of all rows":    testEveryRange,
		"every range by name equals a scan":        testEveryNameRange,
		"pages of any size form the whole listing": testPages,
		"a write transaction lists its own writes": testOwnWrites,
	}
}

// fixedRows returns dataspace 1 with the sets 11 and 12, dataspace 2 with set 21, and the empty
// dataspace 3.
func fixedRows() (rows []any) {
	for _, r := range []struct {
		id, set byte
		state   metadata.State
		stamp   metadata.Stamp
		name    string
	}{
		{101, 11, metadata.Active, 500, "b"},
		{102, 11, metadata.Active, 300, "a"},
		{103, 11, metadata.Deleted, 400, "a"},
		{104, 12, metadata.Active, 300, "c"},
		{105, 21, metadata.Active, 200, "d"},
		{106, 21, metadata.Deleted, 300, "e"},
		{107, 11, metadata.Active, 600, "a/b"},
		{108, 11, metadata.Active, 100, "b\x01"},
		{109, 11, metadata.Active, 700, "b\xff"},
		{110, 11, metadata.Active, 800, "ä"},
		{111, 11, metadata.Deleted, 900, "B"},
	} {
		rows = append(rows, metadata.Resource{
			Record: metadata.Record{ID: id(r.id), State: r.state, Created: 1, Modified: r.stamp},
			SetID:  id(r.set), DataspaceID: id(r.set / 10), Name: r.name,
		})
	}
	return rows
}

// rangeCase is a range of the fixed rows, and the ids that it contains.
type rangeCase struct {
	q    metadata.ResourceRange
	want string
}

func checkRanges(t *testing.T, s *store, cases []rangeCase) {
	t.Helper()
	s.put(t, fixedRows()...)
	for _, c := range cases {
		given := slices.Clone(c.q.Dataspaces)
		got := listed(t, s, func(r metadata.Resource) metadata.ID { return r.ID },
			func(tx *metadata.Tx) iter.Seq2[metadata.Resource, error] { return tx.Resources.Range(c.q) })
		same(t, fmt.Sprintf("resources of %+v", c.q), got, c.want)
		got = listed(t, s, func(r metadata.Resource) metadata.ID { return r.ID },
			func(tx *metadata.Tx) iter.Seq2[metadata.Resource, error] { return Paged(tx, c.q) })
		same(t, fmt.Sprintf("page of resources of %+v", c.q), got, c.want)
		same(t, "the caller's slice of dataspaces", c.q.Dataspaces, given)
	}
}

func testByStamp(t *testing.T, s *store) {
	const (
		active, deleted, all = paging.Active, paging.Deleted, paging.All
		oldest, newest       = paging.Oldest, paging.Newest
	)
	in := func(n ...byte) []metadata.ID { return mapped(n, id) }
	at := func(stamp int64, n byte) paging.Position { return paging.Position{Stamp: stamp, ID: id(n)} }
	type q = metadata.ResourceRange
	checkRanges(t, s, []rangeCase{
		{q{Order: oldest, States: all}, "108 105 102 104 106 103 101 107 109 110 111"},
		{q{Order: newest, States: all}, "111 110 109 107 101 103 106 104 102 105 108"},
		{q{Order: oldest, States: active}, "108 105 102 104 101 107 109 110"},
		{q{Order: newest, States: active}, "110 109 107 101 104 102 105 108"},
		{q{Order: oldest, States: deleted}, "106 103 111"},
		{q{Order: newest, States: deleted}, "111 103 106"},

		{q{Order: oldest, States: all, Set: id(12)}, "104"},
		{q{Order: oldest, States: all, Set: id(11)}, "108 102 103 101 107 109 110 111"},
		{q{Order: newest, States: active, Set: id(11)}, "110 109 107 101 102 108"},
		{q{Order: oldest, States: all, Set: id(13)}, ""},
		{q{Order: oldest, States: all, Set: id(21), Dataspaces: in(1)}, "105 106"},
		{q{Order: oldest, States: all, Set: id(12), Dataspaces: in()}, "104"},
		{q{Order: oldest, States: all, Dataspaces: in()}, ""},
		{q{Order: newest, States: all, Dataspaces: in()}, ""},
		{q{Order: oldest, States: all, Dataspaces: in(2)}, "105 106"},
		{q{Order: oldest, States: active, Dataspaces: in(1)}, "108 102 104 101 107 109 110"},
		{q{Order: oldest, States: all, Dataspaces: in(3, 2, 1)}, "108 105 102 104 106 103 101 107 109 110 111"},
		{q{Order: newest, States: deleted, Dataspaces: in(2, 1)}, "111 103 106"},

		{q{Order: oldest, States: all, Since: 300}, "103 101 107 109 110 111"},
		{q{Order: oldest, States: all, Until: 300}, "108 105"},
		{q{Order: newest, States: all, Until: 300}, "105 108"},
		{q{Order: newest, States: all, Since: 200, Until: 500}, "103 106 104 102"},
		{q{Order: oldest, States: active, Since: 200, Until: 600, Set: id(11)}, "102 101"},
		{q{Order: oldest, States: all, Since: 200, Until: 400, Dataspaces: in(1, 2)}, "102 104 106"},
		{q{Order: oldest, States: all, Since: 500, Until: 500}, ""},
		{q{Order: newest, States: all, Since: 600, Until: 300}, ""},
		{q{Order: oldest, States: all, Since: 900}, ""},
		{q{Order: oldest, States: all, Until: 1}, ""},

		{q{Order: oldest, States: all, After: at(300, 102)}, "104 106 103 101 107 109 110 111"},
		{q{Order: oldest, States: all, After: at(300, 103)}, "104 106 103 101 107 109 110 111"},
		{q{Order: oldest, States: active, After: at(300, 106)}, "101 107 109 110"},
		{q{Order: oldest, States: all, After: paging.Position{Stamp: 300}}, "102 104 106 103 101 107 109 110 111"},
		{q{Order: oldest, States: all, After: at(350, 1)}, "103 101 107 109 110 111"},
		{q{Order: oldest, States: all, After: at(900, 111)}, ""},
		{q{Order: newest, States: all, After: at(300, 104)}, "102 105 108"},
		{q{Order: newest, States: all, After: at(300, 105)}, "104 102 105 108"},
		{q{Order: newest, States: active, After: at(350, 1)}, "104 102 105 108"},
		{q{Order: newest, States: all, After: paging.Position{Stamp: 300}}, "105 108"},
		{q{Order: newest, States: all, After: at(100, 108)}, ""},
		{q{Order: oldest, States: all, After: at(300, 104), Since: 300}, "103 101 107 109 110 111"},
		{q{Order: oldest, States: all, After: at(300, 104), Since: 250, Until: 500}, "106 103"},
		{q{Order: newest, States: all, After: at(300, 104), Since: 100, Until: 400}, "102 105"},
		{q{Order: newest, States: all, After: at(800, 110), Until: 400}, "106 104 102 105 108"},
		{q{Order: oldest, States: all, After: at(200, 105), Set: id(11)}, "102 103 101 107 109 110 111"},
	})
}

func testByName(t *testing.T, s *store) {
	const order, active, all = paging.ByName, paging.Active, paging.All
	exactly := func(name string) *string { return &name }
	at := func(name string, n byte) paging.Position { return paging.Position{Name: name, ID: id(n)} }
	type q = metadata.ResourceRange
	checkRanges(t, s, []rangeCase{
		{q{Order: order, Set: id(11), States: all}, "111 102 103 107 101 108 109 110"},
		{q{Order: order, Set: id(11), States: active}, "102 107 101 108 109 110"},
		{q{Order: order, Set: id(11), States: paging.Deleted}, "111 103"},
		{q{Order: order, Set: id(21), States: all}, "105 106"},
		{q{Order: order, Set: id(13), States: all}, ""},

		{q{Order: order, Set: id(11), States: all, Name: exactly("a")}, "102 103"},
		{q{Order: order, Set: id(11), States: active, Name: exactly("a")}, "102"},
		{q{Order: order, Set: id(11), States: all, Name: exactly("b")}, "101"},
		{q{Order: order, Set: id(11), States: all, Name: exactly("b\x01")}, "108"},
		{q{Order: order, Set: id(11), States: all, Name: exactly("b\xff")}, "109"},
		{q{Order: order, Set: id(11), States: all, Name: exactly("ä")}, "110"},
		{q{Order: order, Set: id(11), States: all, Name: exactly("\xc3")}, ""},
		{q{Order: order, Set: id(11), States: all, Name: exactly("a/")}, ""},
		{q{Order: order, Set: id(11), States: all, Name: exactly("c")}, ""},
		{q{Order: order, Set: id(11), States: all, Name: exactly("")}, ""},

		{q{Order: order, Set: id(11), States: all, NamePrefix: "a"}, "102 103 107"},
		{q{Order: order, Set: id(11), States: all, NamePrefix: "a/"}, "107"},
		{q{Order: order, Set: id(11), States: active, NamePrefix: "b"}, "101 108 109"},
		{q{Order: order, Set: id(11), States: all, NamePrefix: "b\x01"}, "108"},
		{q{Order: order, Set: id(11), States: all, NamePrefix: "b\xff"}, "109"},
		{q{Order: order, Set: id(11), States: all, NamePrefix: "b\xff\xff"}, ""},
		{q{Order: order, Set: id(11), States: all, NamePrefix: "\xc3"}, "110"},
		{q{Order: order, Set: id(11), States: all, NamePrefix: "\xff"}, ""},
		{q{Order: order, Set: id(11), States: all, NamePrefix: "A"}, ""},
		{q{Order: order, Set: id(12), States: all, NamePrefix: "a"}, ""},

		{q{Order: order, Set: id(11), States: all, After: at("a", 102)}, "103 107 101 108 109 110"},
		{q{Order: order, Set: id(11), States: active, After: at("a", 102)}, "107 101 108 109 110"},
		{q{Order: order, Set: id(11), States: all, After: at("a", 1)}, "102 103 107 101 108 109 110"},
		{q{Order: order, Set: id(11), States: all, After: at("a", 200)}, "107 101 108 109 110"},
		{q{Order: order, Set: id(11), States: all, After: at("a.", 1)}, "107 101 108 109 110"},
		{q{Order: order, Set: id(11), States: all, After: at("b", 101)}, "108 109 110"},
		{q{Order: order, Set: id(11), States: all, After: at("b\xff", 109)}, "110"},
		{q{Order: order, Set: id(11), States: all, After: at("ä", 110)}, ""},
		{q{Order: order, Set: id(11), States: all, After: paging.Position{Name: "a"}}, "102 103 107 101 108 109 110"},
		{q{Order: order, Set: id(11), States: all, Name: exactly("a"), After: at("a", 102)}, "103"},
		{q{Order: order, Set: id(11), States: all, Name: exactly("a"), After: at("a", 103)}, ""},
		{q{Order: order, Set: id(11), States: all, NamePrefix: "b", After: at("b", 101)}, "108 109"},
		{q{Order: order, Set: id(11), States: all, NamePrefix: "b", After: at("b\x01", 1)}, "108 109"},
		{q{Order: order, Set: id(11), States: all, NamePrefix: "b", After: at("b\xff", 109)}, ""},
	})
}
