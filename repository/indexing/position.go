package indexing

import (
	"encoding/binary"

	"labshelf/metadata"
)

// phase selects the entries that the next batch reads.
type phase uint8

// The phases, in order. An index without a position begins with the first one. The numbers are
// stored and must never change.
const (
	dataspaces phase = iota // all of them, ordered by id
	sets
	resources // by stamp of the last modification, up to the beginning of the scan
	following // entries of the log
)

// position is how far the index has come. An empty index has the zero position.
type position struct {
	epoch metadata.EpochID
	next  uint64         // number of the next entry to follow
	stamp metadata.Stamp // of the entry before next, or of the beginning; texts follow it

	phase phase
	after metadata.ID    // last object of the present phase, except following
	since metadata.Stamp // stamp of that object in the phase of resources

	text      metadata.Stamp // texts are read of resources modified before this stamp,
	textAfter metadata.ID    // or at this stamp with an id up to this one

	erase bool // permanently deleted content may still be in files of the index

	checked uint64  // entries of the log before this number are validated, too,
	renewal renewal // except for the renewal in progress
}

// renewal is the progress of validating the objects of a dataspace again after a change of its
// schemas. The zero renewal means that none is in progress.
type renewal struct {
	dataspace metadata.ID
	resources bool           // its sets are done
	until     metadata.Stamp // stamp of the change; later modifications are followed anyway
	since     metadata.Stamp // resources modified before this stamp,
	after     metadata.ID    // or at it up to this id, are done; sets up to this id
}

// behind reports whether work is left for the entries that were followed.
func (p position) behind() bool {
	return p.phase != following || p.textsBehind() || p.schemasBehind() || p.erase
}

// schemasBehind reports whether objects might not have been validated since the last change of a
// schema.
func (p position) schemasBehind() bool {
	return p.phase == following && (p.checked < p.next || p.renewal != renewal{})
}

// textsBehind reports whether texts might not have been read.
func (p position) textsBehind() bool { return p.phase == following && p.text < p.stamp }

// positionVersion changes when documents have to be rebuilt. Version 3: the bytes of a file decide
// whether it is text, and more units are known.
const positionVersion = 3

// eraseFlag is a bit in the byte of the phase.
const eraseFlag = 0x80

// positionSize is the length of a stored position, in bytes.
const positionSize = 1 + len(metadata.EpochID{}) + 8 + 8 + 1 + 16 + 8 + 8 + 16 + 8 + 16 + 1 + 8 + 8 + 16

// append appends the stored form: a version and the fields in order, with big-endian numbers.
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

// parsePosition parses the result of append. For anything else it returns the zero position.
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
