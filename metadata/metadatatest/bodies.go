package metadatatest

import (
	"bytes"
	"cmp"
	"iter"
	"maps"
	"slices"

	"labshelf/metadata"
)

// bodies is the table of held bodies. Their bytes are never changed once they are in a state.
type bodies struct {
	access
	rows map[metadata.BodyKey][]byte
}

func (t bodies) Get(of metadata.BodyKey) ([]byte, error) {
	body, ok := t.rows[of]
	if !ok {
		return nil, metadata.ErrNotFound
	}
	return append([]byte{}, body...), nil
}

func (t bodies) Put(of metadata.BodyKey, body []byte) error {
	t.mustWrite()
	t.rows[of] = bytes.Clone(body)
	return nil
}

func (t bodies) Remove(of metadata.BodyKey) error {
	t.mustWrite()
	delete(t.rows, of)
	return nil
}

func (t bodies) All(after metadata.BodyKey) iter.Seq2[metadata.BodyKey, error] {
	return func(yield func(metadata.BodyKey, error) bool) {
		for _, of := range slices.SortedFunc(maps.Keys(t.rows), inBodyOrder) {
			if inBodyOrder(of, after) > 0 && !yield(of, nil) {
				return
			}
		}
	}
}

func inBodyOrder(a, b metadata.BodyKey) int {
	return cmp.Or(a.Resource.Compare(b.Resource), cmp.Compare(a.Version, b.Version))
}

func (t bodies) Total() (total metadata.BodyCount, err error) {
	for _, body := range t.rows {
		total.Bodies++
		total.Bytes += int64(len(body))
	}
	return total, nil
}
