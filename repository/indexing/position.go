package indexing

import (
	"encoding/binary"

	"labshelf/metadata"
)

// phase is what the next batch reads.
type phase uint8

// The phases, in their order. An index without a position begins with the first one. The numbers
// are stored: they never change.
const (
	dataspaces phase = iota // all of them, by id
	sets
	resources // by stamp of their last modification, up to that of the beginning
	following // the entries of the log
)

// position is how far the index is. The zero position is that of an empty index.
type position struct {
	epoch metadata.EpochID
	next  uint64         // number of the entry that was not followed yet
	stamp metadata.Stamp // of the entry before it, or where the first phase began: texts are read up to there

	phase phase
	after metadata.ID    // of the first three phases
	since metadata.Stamp // of the phase of resources

	text      metadata.Stamp // the texts of resources modified up to here, and
	textAfter metadata.ID    // at this stamp up to this id, are there

	erase bool // what is gone for good may still be in files of the index

	checked uint64  // entries of the log before this number are followed in what schemas say, too,
	renewal renewal // but for what is under way
}

// renewal is how far the objects of a dataspace have been looked at again after a change of its
// schemas. The zero renewal is none.
type renewal struct {
	dataspace metadata.ID
	resources bool           // its sets have been looked at
	until     metadata.Stamp // of the change: what is modified later is followed by itself
	since     metadata.Stamp // resources modified up to here, and
	after     metadata.ID    // at this stamp up to this id, have been looked at; of sets all up to this id
}

// behind tells whether something is left to do about the entries that were followed.
func (p position) behind() bool {
	return p.phase != following || p.textsBehind() || p.schemasBehind() || p.erase
}

// schemasBehind tells whether there may be objects that were not looked at since the last change of
// a schema.
func (p position) schemasBehind() bool {
	return p.phase == following && (p.checked < p.next || p.renewal != renewal{})
}

// textsBehind tells whether there may be texts that were not read.
func (p position) textsBehind() bool { return p.phase == following && p.text < p.stamp }

// positionVersion changes when documents have to be made anew. 3: the bytes of a file decide
// whether it is text, and more units are known.
const positionVersion = 3

// eraseFlag stands in the byte of the phase.
const eraseFlag = 0x80

// positionSize is the length of a stored position, in bytes.
const positionSize = 1 + len(metadata.EpochID{}) + 8 + 8 + 1 + 16 + 8 + 8 + 16 + 8 + 16 + 1 + 8 + 8 + 16

// append appends the stored form: a version, and the fields in their order, numbers big-endian.
func (p position) append(b []byte) []byte {
	b = append(append(b, positionVersion), p.epoch[:]...)
	b = binary.BigEndian.AppendUint64(b, p.next)
	b = binary.BigEndian.AppendUint64(b, uint64(p.stamp))
	flags := byte(p.phase)
	if p.erase {
		flags |= eraseFlag
	}
	b = append(append(b, flags), p.after[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(p.since))
	b = binary.BigEndian.AppendUint64(b, uint64(p.text))
	b = append(b, p.textAfter[:]...)
	r := p.renewal
	b = append(binary.BigEndian.AppendUint64(b, p.checked), r.dataspace[:]...)
	stage := byte(0)
	if r.resources {
		stage = 1
	}
	b = binary.BigEndian.AppendUint64(append(b, stage), uint64(r.until))
	return append(binary.BigEndian.AppendUint64(b, uint64(r.since)), r.after[:]...)
}

// parsePosition undoes append. What is no position is that of an empty index.
func parsePosition(b []byte) (p position) {
	if len(b) != positionSize || b[0] != positionVersion {
		return position{}
	}
	b = b[1+copy(p.epoch[:], b[1:]):]
	number := func() uint64 {
		n := binary.BigEndian.Uint64(b)
		b = b[8:]
		return n
	}
	p.next, p.stamp = number(), metadata.Stamp(number())
	p.phase, p.erase = phase(b[0]&^eraseFlag), b[0]&eraseFlag != 0
	b = b[1+copy(p.after[:], b[1:]):]
	p.since, p.text = metadata.Stamp(number()), metadata.Stamp(number())
	b = b[copy(p.textAfter[:], b):]
	p.checked = number()
	r := &p.renewal
	b = b[copy(r.dataspace[:], b):]
	r.resources, b = b[0] == 1, b[1:]
	r.until, r.since = metadata.Stamp(number()), metadata.Stamp(number())
	copy(r.after[:], b)
	return p
}
