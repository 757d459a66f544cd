package index

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// appendName appends a name to its block: the length of the prefix shared with the previous name,
// and the rest.
func appendName(b []byte, shared int, name string) []byte {
	b = binary.AppendUvarint(b, uint64(shared))
	b = binary.AppendUvarint(b, uint64(len(name)-shared))
	return append(b, name[shared:]...)
}

// commonPrefix returns the length of the common prefix of a and b.
func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// nameReader reads the folded names of a shard. Forward reads are fastest.
type nameReader struct {
	names  []byte
	blocks column
	rest   []byte // after the last read name
	next   int    // its number + 1; 0 before the first
	name   []byte
}

func (s *shard) names() nameReader {
	return nameReader{names: s.data.part(secNames), blocks: s.column(secBlocks)}
}

// at returns the name of a document, valid until the next call.
func (r *nameReader) at(doc int) []byte {
	if doc < r.next-1 || r.next == 0 || doc/namesInBlock > (r.next-1)/namesInBlock {
		r.next = doc / namesInBlock * namesInBlock
		r.rest = r.names[r.blocks.at(doc/namesInBlock):]
	}
	for r.next <= doc {
		shared, n := binary.Uvarint(r.rest)
		length, m := binary.Uvarint(r.rest[n:])
		r.rest = r.rest[n+m:]
		r.name = append(r.name[:shared], r.rest[:length]...)
		r.rest = r.rest[length:]
		r.next++
	}
	return r.name
}

// firstAfter returns the number of the first document with a greater name and id.
func (s *shard) firstAfter(name string, id [16]byte) int {
	names := s.names()
	return sort.Search(s.n, func(doc int) bool {
		if c := bytes.Compare(names.at(doc), []byte(name)); c != 0 {
			return c > 0
		}
		other := s.id(doc)
		return bytes.Compare(other[:], id[:]) > 0
	})
}
