package postgres_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"labshelf/internal/servers"
	"labshelf/metadata"
	"labshelf/metadata/groupcommit"
	"labshelf/metadata/metadatatest"
	"labshelf/metadata/tables"
	"labshelf/paging"
	"labshelf/postgres"
)

// TestStampOrderOfNodes makes two nodes count in one row. No update may be lost, and the order of
// stamps must be the order of the counts.
func TestStampOrderOfNodes(t *testing.T) {
	t.Parallel()
	address := servers.StartPostgres(t).Database(t)
	nodes := []*postgres.Store{open(t, address), open(t, address)}
	const writers, each = 6, 25
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for n := range each {
				if err := nodes[(w+n)%2].Update(t.Context(), put(w*each+n, "r")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for _, node := range nodes {
		all := resources(t, node, paging.Oldest)
		if len(all) != writers*each {
			t.Errorf("%d resources, want %d", len(all), writers*each)
		}
		for i, r := range all {
			if r.Bytes != int64(i+1) {
				t.Fatalf("at position %d: count %d", i+1, r.Bytes)
			}
		}
	}
}

// TestHarvestMissesNothing follows the changes on one node by the last seen stamp, while both nodes
// commit. Every row with a smaller stamp must have been visible then.
func TestHarvestMissesNothing(t *testing.T) {
	t.Parallel()
	address := servers.StartPostgres(t).Database(t)
	nodes := []*postgres.Store{open(t, address), open(t, address)}
	const total = 120
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for n := range total / 4 {
				if err := nodes[w%2].Update(t.Context(), put(w*total+n, "r")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	seen, last := 0, metadata.Stamp(0)
	for page := 0; seen < total && !t.Failed(); page++ {
		err := nodes[page%2].ViewDurable(t.Context(), func(tx *metadata.Tx) error {
			q := metadata.ResourceRange{States: paging.All, Order: paging.Oldest}
			for r, err := range tx.Resources.Range(q) {
				if err != nil {
					return err
				}
				if r.Modified > last {
					seen, last = seen+1, r.Modified
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	writers.Wait()
	if seen != total {
		t.Errorf("seen %d of %d", seen, total)
	}
}

// TestAccessVersionOfAllNodes tests that a change of access rows on one node invalidates the cache
// of another node with its next transaction.
func TestAccessVersionOfAllNodes(t *testing.T) {
	t.Parallel()
	address := servers.StartPostgres(t).Database(t)
	a, b := open(t, address), open(t, address)
	for n := range 3 {
		before, err := b.AccessVersion(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = a.Update(t.Context(), func(tx *metadata.Tx) error {
			stamp := tx.Stamp()
			id := metadatatest.IDAt('U', 1)
			return tx.Users.Put(metadata.User{
				Record: metadata.Record{ID: id, State: metadata.Active, Created: stamp, Modified: stamp}, Username: "anna", About: strings.Repeat("!", n),
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		var within uint64
		var about []string
		viewed := b.View(t.Context(), func(tx *metadata.Tx) error {
			if within = tx.Access(); n == 1 {
				return nil // fn has read nothing
			}
			u, err := tx.Users.Get(metadatatest.IDAt('U', 1))
			about = append(about, u.About)
			return err
		})
		after, err := b.AccessVersion(t.Context())
		if err := errors.Join(viewed, err); err != nil || after <= before || within != after {
			t.Errorf("version %d, then %d, in a view %d: %v", before, after, within, err)
		}
		if n != 1 && (len(about) != 1 || about[0] != strings.Repeat("!", n)) {
			t.Errorf("read %q", about)
		}
	}
}

// TestLongNames lists names that are longer than an index entry, and that differ only after the
// indexed part.
func TestLongNames(t *testing.T) {
	t.Parallel()
	address := servers.StartPostgres(t).Database(t)
	nodes := []*postgres.Store{open(t, address), open(t, address)}
	random := rand.NewChaCha8([32]byte{22})
	name := func(length int) string {
		text := make([]byte, length)
		_, _ = random.Read(text)
		for i, b := range text {
			text[i] = 'a' + b%26
		}
		return string(text)
	}
	head := name(4000)
	var want []string
	for n := range 300 {
		text := name(int(n%7) * 600)
		if n%3 == 0 {
			text = head + name(96)
		}
		text += "."
		want = append(want, text)
		if err := nodes[n%2].Update(t.Context(), put(n, text)); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(want)
	for _, node := range nodes {
		var got []string
		for _, r := range resources(t, node, paging.ByName) {
			got = append(got, r.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d names, want %d, or a different order", len(got), len(want))
		}
	}
}

// TestRowsBothWays loads the content of one database into another one.
func TestRowsBothWays(t *testing.T) {
	t.Parallel()
	server := servers.StartPostgres(t)
	from := open(t, server.Database(t))
	if err := from.Update(t.Context(), metadatatest.EveryTable); err != nil {
		t.Fatal(err)
	}
	if err := from.Update(t.Context(), put(9, strings.Repeat("long", 1000))); err != nil {
		t.Fatal(err)
	}
	address := server.Database(t)
	if err := postgres.Load(t.Context(), address, from.Rows(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := postgres.Load(t.Context(), address, from.Rows(t.Context())); !errors.Is(err, postgres.ErrNotEmpty) {
		t.Errorf("a second load: %v", err)
	}
	to, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := to.Close(); err != nil {
			t.Error(err)
		}
	}()
	if to.Secret() != from.Secret() {
		t.Error("another secret: page tokens are lost")
	}
	if got, want := dump(t, to), dump(t, from); len(got) == 0 || !slices.EqualFunc(got, want, sameRow) {
		t.Errorf("%d rows, want %d, or different ones", len(got), len(want))
	}
}

func dump(t *testing.T, s *postgres.Store) (all []tables.Row) {
	t.Helper()
	for row, err := range s.Rows(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tables.Row{Bucket: row.Bucket, Key: bytes.Clone(row.Key), Value: bytes.Clone(row.Value)})
	}
	return all
}

func sameRow(a, b tables.Row) bool { return a.Compare(b) == 0 && bytes.Equal(a.Value, b.Value) }

// TestInterruptedLoad interrupts a load. The database must be as empty as before.
func TestInterruptedLoad(t *testing.T) {
	t.Parallel()
	server := servers.StartPostgres(t)
	from, address, broken := open(t, server.Database(t)), server.Database(t), errors.New("broken")
	err := postgres.Load(t.Context(), address, func(yield func(tables.Row, error) bool) {
		n := 0
		for row, err := range from.Rows(t.Context()) {
			if n++; n == 3 {
				yield(tables.Row{}, broken)
				return
			}
			if !yield(row, err) {
				return
			}
		}
	})
	if !errors.Is(err, broken) {
		t.Errorf("an interrupted source: %v", err)
	}
	if err := postgres.Load(t.Context(), address, from.Rows(t.Context())); err != nil {
		t.Errorf("the next load: %v", err)
	}
}

// TestCommitsAreObserved tests that each commit is reported with its number of operations. A
// transaction without changes is not reported.
func TestCommitsAreObserved(t *testing.T) {
	t.Parallel()
	var commits []groupcommit.Commit
	s, err := postgres.Open(t.Context(), servers.StartPostgres(t).Database(t), postgres.Options{Observe: func(c groupcommit.Commit) { commits = append(commits, c) }})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(s.Update(t.Context(), put(number(), "one")), s.Update(t.Context(), func(*metadata.Tx) error { return nil }), s.Update(t.Context(), put(number(), "two")), s.Close())
	if err != nil {
		t.Fatal(err)
	}
	if len(commits) != 2 {
		t.Fatalf("reported are %+v", commits)
	}
	for _, c := range commits {
		if c.Operations != 1 || c.Failed || c.Took <= 0 || c.Synced <= 0 || c.Synced > c.Took || c.Work <= 0 || c.Waited <= 0 {
			t.Errorf("reported is %+v", c)
		}
	}
}
