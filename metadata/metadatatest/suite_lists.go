package metadatatest

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
)

func listTests() map[string]func(*testing.T, *store) {
	return map[string]func(*testing.T, *store){
		"dataspaces and users are listed by id":           testDirectories,
		"keys are listed by user and id":                  testKeys,
		"privileges are listed by id, user and dataspace": testPrivileges,
		"sets are listed by dataspace, state and id":      testSetRanges,
		"sequences are read side by side and left early":  testSequences,
	}
}

// ids writes the ids of the tests as their numbers.
func ids(of ...metadata.ID) string {
	var b strings.Builder
	for _, id := range of {
		fmt.Fprintf(&b, " %d", id[15])
	}
	return strings.TrimSpace(b.String())
}

// listed reads a sequence and writes the ids in it.
func listed[T any](t *testing.T, s metadata.Reader, idOf func(T) metadata.ID, seq func(*metadata.Tx) iter.Seq2[T, error]) string {
	t.Helper()
	return ids(mapped(view(t, s, func(tx *metadata.Tx) ([]T, error) { return list(seq(tx)) }), idOf)...)
}

func testDirectories(t *testing.T, s *store) {
	for _, n := range []byte{30, 10, 50, 20, 40} {
		record := metadata.Record{ID: id(n), State: metadata.Active}
		visibility := metadata.Private
		if n != 20 && n != 50 {
			visibility = metadata.Public
		}
		if n == 40 {
			record.State = metadata.Deleted
		}
		s.put(t,
			metadata.Dataspace{Record: record, Name: fmt.Sprint("d", n), Visibility: visibility},
			metadata.User{Record: record, Username: fmt.Sprint("u", n)})
	}
	for after, want := range map[byte][2]string{
		0: {"10 20 30 40 50", "10 30 40"}, 9: {"10 20 30 40 50", "10 30 40"}, 10: {"20 30 40 50", "30 40"}, 20: {"30 40 50", "30 40"},
		39: {"40 50", "40"}, 40: {"50", ""}, 50: {"", ""}, 60: {"", ""},
	} {
		from := id(after)
		if after == 0 {
			from = metadata.ID{}
		}
		dataspaces := listed(t, s, func(d metadata.Dataspace) metadata.ID { return d.ID },
			func(tx *metadata.Tx) iter.Seq2[metadata.Dataspace, error] { return tx.Dataspaces.All(from) })
		same(t, fmt.Sprint("dataspaces after ", after), dataspaces, want[0])
		users := listed(t, s, func(u metadata.User) metadata.ID { return u.ID },
			func(tx *metadata.Tx) iter.Seq2[metadata.User, error] { return tx.Users.All(from) })
		same(t, fmt.Sprint("users after ", after), users, want[0])
		public := listed(t, s, func(id metadata.ID) metadata.ID { return id },
			func(tx *metadata.Tx) iter.Seq2[metadata.ID, error] { return tx.Dataspaces.Public(from) })
		same(t, fmt.Sprint("public dataspaces after ", after), public, want[1])
	}
}

func testKeys(t *testing.T, s *store) {
	for _, n := range []byte{50, 20, 40, 10, 30} {
		user := id(1)
		if n == 40 {
			user = id(2)
		}
		s.put(t, metadata.Key{ID: id(n), UserID: user, Digest: auth.KeyDigest{0: 100 - n}, Created: 1, Gone: metadata.Stamp(n % 20)})
	}
	for _, ask := range []struct {
		user, after metadata.ID
		want        string
	}{
		{id(1), metadata.ID{}, "10 20 30 50"}, {id(2), metadata.ID{}, "40"}, {id(3), metadata.ID{}, ""},
		{metadata.ID{}, metadata.ID{}, ""}, {id(1), id(10), "20 30 50"}, {id(1), id(29), "30 50"}, {id(1), id(40), "50"},
		{id(1), id(50), ""}, {id(1), maxID(), ""}, {id(2), id(39), "40"}, {id(2), id(40), ""},
	} {
		got := listed(t, s, func(k metadata.Key) metadata.ID { return k.ID },
			func(tx *metadata.Tx) iter.Seq2[metadata.Key, error] { return tx.Keys.OfUser(ask.user, ask.after) })
		same(t, fmt.Sprintf("keys of user %d after %d", ask.user[15], ask.after[15]), got, ask.want)
	}
	foreign := s.View(t.Context(), func(tx *metadata.Tx) error {
		_, err := tx.Keys.Get(id(2), id(10))
		return err
	})
	isError(t, "a key of another user", foreign, metadata.ErrNotFound)
}

func testPrivileges(t *testing.T, s *store) {
	for _, p := range []struct{ id, user, dataspace byte }{{90, 1, 30}, {80, 2, 10}, {70, 1, 10}, {60, 1, 20}, {50, 3, 10}} {
		s.put(t, metadata.Privilege{
			Record: metadata.Record{ID: id(p.id), State: metadata.State(1 + p.id/10%2)},
			UserID: id(p.user), DataspaceID: id(p.dataspace), Role: auth.Editor,
		})
	}
	idOf := func(p metadata.Privilege) metadata.ID { return p.ID }
	for name, ask := range map[string]struct {
		seq  func(*metadata.Tx) iter.Seq2[metadata.Privilege, error]
		want string
	}{
		"all":                  {allAfter(metadata.ID{}), "50 60 70 80 90"},
		"all after 60":         {allAfter(id(60)), "70 80 90"},
		"all after 61":         {allAfter(id(61)), "70 80 90"},
		"all after the last":   {allAfter(id(90)), ""},
		"of user 1":            {ofUser(id(1), metadata.ID{}), "70 60 90"},
		"of user 1 after 10":   {ofUser(id(1), id(10)), "60 90"},
		"of user 1 after 11":   {ofUser(id(1), id(11)), "60 90"},
		"of user 1 after 30":   {ofUser(id(1), id(30)), ""},
		"of user 2":            {ofUser(id(2), metadata.ID{}), "80"},
		"of nobody":            {ofUser(metadata.ID{}, metadata.ID{}), ""},
		"of dataspace 10":      {ofDataspace(id(10)), "70 80 50"},
		"of dataspace 30":      {ofDataspace(id(30)), "90"},
		"of no dataspace":      {ofDataspace(metadata.ID{}), ""},
		"of another dataspace": {ofDataspace(id(31)), ""},
	} {
		same(t, "privileges "+name, listed(t, s, idOf, ask.seq), ask.want)
	}
}

func allAfter(after metadata.ID) func(*metadata.Tx) iter.Seq2[metadata.Privilege, error] {
	return func(tx *metadata.Tx) iter.Seq2[metadata.Privilege, error] { return tx.Privileges.All(after) }
}

func ofUser(user, after metadata.ID) func(*metadata.Tx) iter.Seq2[metadata.Privilege, error] {
	return func(tx *metadata.Tx) iter.Seq2[metadata.Privilege, error] {
		return tx.Privileges.OfUser(user, after)
	}
}

func ofDataspace(dataspace metadata.ID) func(*metadata.Tx) iter.Seq2[metadata.Privilege, error] {
	return func(tx *metadata.Tx) iter.Seq2[metadata.Privilege, error] {
		return tx.Privileges.OfDataspace(dataspace)
	}
}

func testSetRanges(t *testing.T, s *store) {
	for _, row := range []struct {
		id, dataspace byte
		state         metadata.State
	}{{16, 1, 1}, {15, 2, 1}, {14, 3, 2}, {13, 1, 2}, {12, 2, 2}, {11, 1, 1}} {
		s.put(t, metadata.Set{
			Record: metadata.Record{ID: id(row.id), State: row.state}, Name: fmt.Sprint("s", row.id), DataspaceID: id(row.dataspace),
		})
	}
	in := func(n ...byte) []metadata.ID { return mapped(n, id) }
	for _, ask := range []struct {
		q    metadata.SetRange
		want string
	}{
		{metadata.SetRange{States: paging.All}, "11 12 13 14 15 16"},
		{metadata.SetRange{States: paging.Active}, "11 15 16"},
		{metadata.SetRange{States: paging.Deleted}, "12 13 14"},
		{metadata.SetRange{States: paging.All, After: id(13)}, "14 15 16"},
		{metadata.SetRange{States: paging.Active, After: id(11)}, "15 16"},
		{metadata.SetRange{States: paging.Active, After: id(12)}, "15 16"},
		{metadata.SetRange{States: paging.All, After: id(16)}, ""},
		{metadata.SetRange{States: paging.All, After: maxID()}, ""},
		{metadata.SetRange{States: paging.All, Dataspaces: in()}, ""},
		{metadata.SetRange{States: paging.All, Dataspaces: in(1)}, "11 13 16"},
		{metadata.SetRange{States: paging.Deleted, Dataspaces: in(1)}, "13"},
		{metadata.SetRange{States: paging.All, Dataspaces: in(4)}, ""},
		{metadata.SetRange{States: paging.All, Dataspaces: in(2, 1)}, "11 12 13 15 16"},
		{metadata.SetRange{States: paging.Active, Dataspaces: in(3, 2, 1)}, "11 15 16"},
		{metadata.SetRange{States: paging.Deleted, Dataspaces: in(3, 2, 4)}, "12 14"},
		{metadata.SetRange{States: paging.All, Dataspaces: in(3, 1), After: id(13)}, "14 16"},
	} {
		given := slices.Clone(ask.q.Dataspaces)
		got := listed(t, s, func(s metadata.Set) metadata.ID { return s.ID },
			func(tx *metadata.Tx) iter.Seq2[metadata.Set, error] { return tx.Sets.Range(ask.q) })
		same(t, fmt.Sprintf("sets of %+v", ask.q), got, ask.want)
		same(t, "the caller's slice of dataspaces", ask.q.Dataspaces, given)
	}
}

// testSequences leaves sequences early, reads two of one table side by side and gets rows meanwhile, as a page does.
func testSequences(t *testing.T, s *store) {
	for n := byte(1); n <= 9; n++ {
		record := metadata.Record{ID: id(n), State: metadata.Active, Modified: metadata.Stamp(n)}
		s.put(t,
			metadata.Dataspace{Record: record, Name: fmt.Sprint("d", n), Visibility: metadata.Public},
			metadata.Resource{Record: record, SetID: id(1), DataspaceID: id(1), Name: "r"})
	}
	rows := view(t, s, func(tx *metadata.Tx) (rows []string, err error) {
		q := metadata.ResourceRange{States: paging.All, Order: paging.Oldest}
		next, stop := iter.Pull2(tx.Resources.Range(q))
		defer stop()
		q.Order = paging.Newest
		for backwards, err := range tx.Resources.Range(q) {
			if err != nil {
				return nil, err
			}
			forwards, err, more := next()
			if !more || err != nil {
				return nil, fmt.Errorf("ended early: %w", err)
			}
			again, err := tx.Resources.Get(backwards.ID)
			if err != nil {
				return nil, err
			}
			first, err := take(tx.Dataspaces.All(forwards.ID), 2)
			if err != nil {
				return nil, err
			}
			found := mapped(first, func(d metadata.Dataspace) metadata.ID { return d.ID })
			if rows = append(rows, ids(append(found, forwards.ID, again.ID)...)); len(rows) == 4 {
				break
			}
		}
		return rows, nil
	})
	same(t, "sequences read together", rows, []string{"2 3 1 9", "3 4 2 8", "4 5 3 7", "5 6 4 6"})
}

// testCopies keeps what it read, and changes what it put, while the store goes on and closes.
func testCopies(t *testing.T, s *store) {
	rows := filledRows(false)
	s.put(t, rows...)
	var kept []any
	keep := func(tx *metadata.Tx) error {
		for _, row := range rows {
			for _, way := range waysTo(row) {
				got, err := way.find(tx)
				if err != nil {
					return err
				}
				kept = append(kept, got)
			}
		}
		return nil
	}
	listing := view(t, s, read(probeOf(rows...)))
	if err := s.View(t.Context(), keep); err != nil {
		t.Fatal(err)
	}
	others := filledRows(true)
	for n := range byte(20) {
		s.put(t, others...)
		s.put(t, blobRow{blobs.Digest{n}, int64(n)}, metadata.User{Record: metadata.Record{ID: id(n)}, Username: strings.Repeat("u", int(n)+1)})
	}
	for _, row := range rows {
		s.put(t, row)
	}
	want := view(t, onlyHolds(t, rows...), read(probeOf(rows...)))
	s.stop(t)
	same(t, "kept lists", listing, want)
	for _, row := range kept {
		if !slices.Contains(rows, row) {
			t.Errorf("a kept row has become %+v", row)
		}
	}
}
