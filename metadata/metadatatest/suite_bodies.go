package metadatatest

import (
	"errors"
	"testing"

	"labshelf/metadata"
)

func bodyTests() map[string]func(*testing.T, *store) {
	return map[string]func(*testing.T, *store){
		"bodies":          testBodies,
		"total of bodies": testBodyTotal,
		"bodies are kept": testBodyCopies,
	}
}

func bodyOf(n byte, version uint32) metadata.BodyKey {
	return metadata.BodyKey{Resource: id(n), Version: version}
}

// held is what a store says of all its bodies.
type held struct {
	Keys   []metadata.BodyKey
	Bodies []string
	Total  metadata.BodyCount
}

func heldAfter(after metadata.BodyKey) func(*metadata.Tx) (held, error) {
	return func(tx *metadata.Tx) (all held, err error) {
		if all.Keys, err = list(tx.Bodies.All(after)); err != nil {
			return all, err
		}
		for _, of := range all.Keys {
			body, err := tx.Bodies.Get(of)
			if err != nil {
				return all, err
			}
			all.Bodies = append(all.Bodies, string(body))
		}
		all.Total, err = tx.Bodies.Total()
		return all, err
	}
}

func testBodies(t *testing.T, s *store) {
	none := metadata.BodyKey{}
	same(t, "an empty store", view(t, s, heldAfter(none)), held{})
	long := string(make([]byte, 130<<10)) + "end"
	rows := []bodyRow{{bodyOf(2, 0), "b"}, {bodyOf(1, 256), "later"}, {bodyOf(1, 255), ""}, {bodyOf(3, 1), long}}
	for _, row := range rows {
		s.put(t, row)
	}
	all := held{
		[]metadata.BodyKey{bodyOf(1, 255), bodyOf(1, 256), bodyOf(2, 0), bodyOf(3, 1)}, []string{"", "later", "b", long},
		metadata.BodyCount{Bodies: 4, Bytes: 5 + 1 + int64(len(long))},
	}
	same(t, "all", view(t, s, heldAfter(none)), all)
	s.reopen(t)
	same(t, "all, after opening again", view(t, s, heldAfter(none)), all)
	same(t, "after the second", view(t, s, heldAfter(bodyOf(1, 256))), held{all.Keys[2:], all.Bodies[2:], all.Total})
	same(t, "after what is not there", view(t, s, heldAfter(bodyOf(2, 9))), held{all.Keys[3:], all.Bodies[3:], all.Total})
	s.update(t, func(tx *metadata.Tx) error {
		return errors.Join(tx.Bodies.Remove(bodyOf(3, 1)), tx.Bodies.Remove(bodyOf(3, 1)), tx.Bodies.Remove(bodyOf(9, 9)))
	})
	all = held{all.Keys[:3], all.Bodies[:3], metadata.BodyCount{Bodies: 3, Bytes: 6}}
	same(t, "after one was removed", view(t, s, heldAfter(none)), all)
	for _, gone := range []metadata.BodyKey{bodyOf(3, 1), bodyOf(2, 1), none} {
		err := s.View(t.Context(), func(tx *metadata.Tx) error {
			_, err := tx.Bodies.Get(gone)
			return err
		})
		isError(t, "get what is not there", err, metadata.ErrNotFound)
	}
}

// testBodyTotal: the total follows within a transaction, what replaces counts once, and nothing stays of what failed.
func testBodyTotal(t *testing.T, s *store) {
	total := func(tx *metadata.Tx) (metadata.BodyCount, error) { return tx.Bodies.Total() }
	s.put(t, bodyRow{bodyOf(1, 0), "four"})
	want := []metadata.BodyCount{{Bodies: 1, Bytes: 4}, {Bodies: 2, Bytes: 6}, {Bodies: 2, Bytes: 9}, {Bodies: 1, Bytes: 7}, {Bodies: 1, Bytes: 7}}
	var got []metadata.BodyCount
	steps := func(tx *metadata.Tx) error {
		got = nil
		for _, step := range []func() error{
			func() error { return nil },
			func() error { return tx.Bodies.Put(bodyOf(2, 0), []byte("no")) },
			func() error { return tx.Bodies.Put(bodyOf(1, 0), []byte("seventh")) },
			func() error { return tx.Bodies.Remove(bodyOf(2, 0)) },
			func() error { return tx.Bodies.Remove(bodyOf(2, 0)) },
		} {
			err := step()
			now, failed := total(tx)
			if err := errors.Join(err, failed); err != nil {
				return err
			}
			got = append(got, now)
		}
		return nil
	}
	err := s.Update(t.Context(), func(tx *metadata.Tx) error { return errors.Join(steps(tx), errOnPurpose) })
	isError(t, "an update that fails", err, errOnPurpose)
	same(t, "totals on the way", got, want)
	same(t, "after an update that failed", view(t, s, total), want[0])
	s.update(t, steps)
	same(t, "totals on the way", got, want)
	same(t, "after the update", view(t, s, total), want[4])
	s.reopen(t)
	same(t, "after opening again", view(t, s, total), want[4])
	s.update(t, func(tx *metadata.Tx) error { return tx.Bodies.Put(bodyOf(3, 3), nil) })
	same(t, "with an empty one", view(t, s, total), metadata.BodyCount{Bodies: 2, Bytes: 7})
}

// testBodyCopies: what was put is not the caller's any more, and what was got is.
func testBodyCopies(t *testing.T, s *store) {
	s.update(t, func(tx *metadata.Tx) error {
		body := []byte("body")
		if err := tx.Bodies.Put(bodyOf(1, 0), body); err != nil {
			return err
		}
		copy(body, "else")
		return nil
	})
	get := func(tx *metadata.Tx) ([]byte, error) { return tx.Bodies.Get(bodyOf(1, 0)) }
	first := view(t, s, get)
	same(t, "the body", string(first), "body")
	clear(first)
	same(t, "the body again", string(view(t, s, get)), "body")
}
