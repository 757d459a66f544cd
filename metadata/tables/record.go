package tables

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"unsafe"

	"labshelf/metadata"
)

// A record is a format byte, a CRC-32C in 4 bytes, and the fields of an object. Numbers are
// big-endian with their full width, ids, digests and bodies are unchanged, booleans are 0 or 1, and
// strings are the uvarint of their length followed by their bytes. The checksum covers the record's
// key and its fields, so that a record under another key does not verify: engines may have no
// checksums of their own. The format is frozen; a new format needs another format byte.
const (
	recordFormat = 1
	recordHeader = 1 + crc32.Size
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(key, fields []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, fields)
}

// codec encodes or decodes the fields of one object. It appends them to data, or takes them from
// the front of data. A function describes each noun once, by calling a method for each field.
type codec struct {
	data   []byte
	decode bool
	views  bool // decoded strings are views of data, not copies
	bad    bool // the data is invalid, and the decoded fields are meaningless
}

// seal encodes an object as the record under a key.
func seal[T any](key []byte, fields func(*codec, *T), object T) []byte {
	c := codec{data: make([]byte, recordHeader, 256)}
	fields(&c, &object)
	c.data[0] = recordFormat
	binary.BigEndian.PutUint32(c.data[1:], checksum(key, c.data[recordHeader:]))
	return c.data
}

// unseal decodes the object in a record. It keeps no part of the record. Every error is
// metadata.ErrRecordDamaged.
func unseal[T any](key, record []byte, fields func(*codec, *T)) (object T, err error) {
	if err := decode(&codec{}, key, record, fields, &object); err != nil {
		var none T
		return none, err
	}
	return object, nil
}

// decode decodes every field of an object from a record. After an error the object is meaningless.
func decode[T any](c *codec, key, record []byte, fields func(*codec, *T), object *T) error {
	if len(record) < recordHeader || record[0] != recordFormat {
		return fmt.Errorf("%w: no record of a known format", metadata.ErrRecordDamaged)
	}
	if checksum(key, record[recordHeader:]) != binary.BigEndian.Uint32(record[1:]) {
		return fmt.Errorf("%w: checksum", metadata.ErrRecordDamaged)
	}
	c.data, c.decode, c.bad = record[recordHeader:], true, false
	fields(c, object)
	if c.bad || len(c.data) != 0 {
		return fmt.Errorf("%w: its fields do not fit", metadata.ErrRecordDamaged)
	}
	return nil
}

// take returns the next n bytes of the record when decoding. If the record is too short, it returns
// zeros.
func (c *codec) take(n int) []byte {
	if n > len(c.data) {
		c.bad, c.data = true, nil
	}
	if c.bad {
		return make([]byte, n)
	}
	taken := c.data[:n]
	c.data = c.data[n:]
	return taken
}

// fixed encodes or decodes an id, a digest or a secret. field is a slice of the array in the
// object.
func (c *codec) fixed(field []byte) {
	if c.decode {
		copy(field, c.take(len(field)))
		return
	}
	c.data = append(c.data, field...)
}

func (c *codec) int64(field *int64) {
	if c.decode {
		*field = int64(binary.BigEndian.Uint64(c.take(8)))
		return
	}
	c.data = binary.BigEndian.AppendUint64(c.data, uint64(*field))
}

func (c *codec) uint64(field *uint64) {
	if c.decode {
		*field = binary.BigEndian.Uint64(c.take(8))
		return
	}
	c.data = binary.BigEndian.AppendUint64(c.data, *field)
}

func (c *codec) uint32(field *uint32) {
	if c.decode {
		*field = binary.BigEndian.Uint32(c.take(4))
		return
	}
	c.data = binary.BigEndian.AppendUint32(c.data, *field)
}

func (c *codec) uint8(field *uint8) {
	if c.decode {
		*field = c.take(1)[0]
		return
	}
	c.data = append(c.data, *field)
}

func (c *codec) truth(field *bool) {
	var b uint8
	if *field {
		b = 1
	}
	c.uint8(&b)
	c.bad = c.bad || b > 1
	*field = b == 1
}

// added is for the last fields of a record, which a later schema has added. It omits them if all
// are zero, so that old records remain valid.
func added[T comparable](c *codec, v *T, fields func(*codec, *T)) {
	var none T
	if c.decode {
		*v = none
		if len(c.data) == 0 {
			return
		}
	} else if *v == none {
		return
	}
	fields(c, v)
	c.bad = c.bad || *v == none
}

// addedThen is like added, for fields that are followed by fields of a still later schema.
func addedThen[T, U comparable](c *codec, v *T, fields func(*codec, *T), later *U, laterFields func(*codec, *U)) {
	var none U
	if !c.decode && *later == none || c.decode && len(c.data) == 0 {
		*later = none
		added(c, v, fields)
		return
	}
	fields(c, v)
	if c.decode && len(c.data) == 0 {
		var nothing T
		*later, c.bad = none, c.bad || *v == nothing
		return
	}
	laterFields(c, later)
	c.bad = c.bad || *later == none
}

// addedInThree is like addedThen, for fields that are followed by fields of two later schemas.
func addedInThree[T, U, V comparable](c *codec, v *T, fields func(*codec, *T), later *U, laterFields func(*codec, *U), last *V, lastFields func(*codec, *V)) {
	var none V
	if !c.decode && *last == none || c.decode && len(c.data) == 0 {
		*last = none
		addedThen(c, v, fields, later, laterFields)
		return
	}
	fields(c, v)
	var nothing U
	if c.decode && len(c.data) == 0 {
		var no T
		*later, *last, c.bad = nothing, none, c.bad || *v == no
		return
	}
	laterFields(c, later)
	if c.decode && len(c.data) == 0 {
		*last, c.bad = none, c.bad || *later == nothing
		return
	}
	lastFields(c, last)
	c.bad = c.bad || *last == none
}

// rest is for the last field of a record, without a length.
func (c *codec) rest(field *[]byte) {
	if !c.decode {
		c.data = append(c.data, *field...)
		return
	}
	*field = append([]byte{}, c.take(len(c.data))...)
}

// bytes is like text, for a byte slice that the caller may change.
func (c *codec) bytes(field *[]byte) {
	text := string(*field)
	c.text(&text)
	if c.decode {
		*field = []byte(text)
	}
}

func (c *codec) text(field *string) {
	if !c.decode {
		c.data = append(binary.AppendUvarint(c.data, uint64(len(*field))), *field...)
		return
	}
	length, size := binary.Uvarint(c.data)
	shortest := size > 0 && (size == 1 || c.data[size-1] != 0)
	if !shortest || length > uint64(len(c.data)-size) {
		c.bad, c.data = true, nil
		return
	}
	c.data = c.data[size:]
	*field = c.string(c.take(int(length)))
}

// string is the only function that turns stored bytes into a string without a copy.
func (c *codec) string(b []byte) string {
	if c.views {
		return unsafe.String(unsafe.SliceData(b), len(b))
	}
	return string(b)
}
