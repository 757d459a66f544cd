package extraction

import (
	"encoding/binary"
	"math"
	"strconv"

	"labshelf/formats/descriptive"
)

// The tags of lists, and the types of values in the classic forms of NetCDF: CDF-1, CDF-2 with
// 64-bit positions, and CDF-5 with 64-bit counts.
const (
	dimensionTag = 10
	variableTag  = 11
	attributeTag = 12

	ncChar   = 2
	ncFloat  = 5
	ncDouble = 6

	maxItems  = 10_000   // of a list
	maxNetCDF = 16 << 20 // bytes of a header that are read
)

// ncWidths are the sizes of the types, from byte to uint64.
var ncWidths = [...]int64{0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8}

// readNetCDF reads the global attributes, the dimensions and the variables of a file.
func readNetCDF(in source, to *collector) error {
	b, err := in.section(0, min(in.size, 4))
	if err != nil {
		return err
	}
	h := &netCDF{in: in, at: 4, version: b[3]}
	records := h.count()
	dimensions := h.dimensions(records)
	attributes := h.attributes()
	variables := h.variables()
	if h.err != nil {
		return h.err
	}
	to.add("dimensions", descriptive.GroupOf(dimensions))
	for _, a := range attributes {
		to.add(a.name, a.value)
	}
	to.add("variables", descriptive.ListOf(variables...))
	return nil
}

// netCDF is a header that is being read. After an error all methods return zero values.
type netCDF struct {
	in      source
	at      int64
	version byte
	err     error
}

type ncAttribute struct {
	name  string
	value descriptive.Value
}

// read returns n bytes, and skips the padding to a multiple of four.
func (h *netCDF) read(n int64) []byte {
	if h.err == nil && (n < 0 || h.at+n > maxNetCDF) {
		h.err = malformed("a NetCDF header of more than %d bytes", maxNetCDF)
	}
	if h.err != nil {
		return nil
	}
	b, err := h.in.section(h.at, n)
	h.at, h.err = h.at+(n+3)&^3, err
	return b
}

// word reads a 32-bit number.
func (h *netCDF) word() uint32 {
	if b := h.read(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// count reads a count: 32 bits, 64 in CDF-5.
func (h *netCDF) count() int64 {
	if h.version != 5 {
		return int64(h.word())
	}
	if b := h.read(8); b != nil {
		return int64(min(binary.BigEndian.Uint64(b), math.MaxInt64))
	}
	return 0
}

// list reads the beginning of a list, and returns its length.
func (h *netCDF) list(tag uint32) int64 {
	found, n := h.word(), h.count()
	if h.err == nil && (n > maxItems || n != 0 && found != tag || found != 0 && found != tag) {
		h.err = malformed("a NetCDF list has the wrong tag, or %d elements", n)
	}
	if h.err != nil {
		return 0
	}
	return n
}

func (h *netCDF) name() string {
	n := h.count()
	if h.err == nil && n > maxText {
		h.err = malformed("a NetCDF name has %d bytes", n)
	}
	return decode(h.read(n))
}

// dimensions reads the dimensions with their lengths. The length of the unlimited one is the number
// of records.
func (h *netCDF) dimensions(records int64) descriptive.Group {
	var all collector
	for range h.list(dimensionTag) {
		name, length := h.name(), h.count()
		if length == 0 {
			length = records
		}
		if h.err != nil {
			return nil
		}
		all.add(name, integer(length))
	}
	return all.group
}

func (h *netCDF) attributes() (all []ncAttribute) {
	for range h.list(attributeTag) {
		a := ncAttribute{name: h.name()}
		if a.value = h.value(); h.err != nil {
			return nil
		}
		all = append(all, a)
	}
	return all
}

// value reads the value of an attribute: a string, a number, or a list of numbers, truncated to its
// first ones.
func (h *netCDF) value() descriptive.Value {
	kind, n := h.word(), h.count()
	if h.err == nil && (kind == 0 || int(kind) >= len(ncWidths) || n > maxNetCDF) {
		h.err = malformed("a NetCDF value has the type %d and %d elements", kind, n)
	}
	if h.err != nil {
		return descriptive.Value{}
	}
	b := h.read(n * ncWidths[kind])
	if kind == ncChar {
		return descriptive.TextOf(cString(b))
	}
	var list []descriptive.Value
	for width := int(ncWidths[kind]); len(b) >= width && len(list) < maxList; b = b[width:] {
		if n := ncNumber(kind, b); n != "" {
			list = append(list, descriptive.NumberOf(n))
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	return descriptive.ListOf(list...)
}

// ncNumber returns a number, or "" if it is not finite.
func ncNumber(kind uint32, b []byte) descriptive.Number {
	order := binary.BigEndian
	signed := func(n int64) descriptive.Number { return descriptive.Number(strconv.FormatInt(n, 10)) }
	switch kind {
	case 1:
		return signed(int64(int8(b[0])))
	case 3:
		return signed(int64(int16(order.Uint16(b))))
	case 4:
		return signed(int64(int32(order.Uint32(b))))
	case ncFloat, ncDouble:
		f := 0.0
		if kind == ncFloat {
			f = shortest(math.Float32frombits(order.Uint32(b)))
		} else {
			f = math.Float64frombits(order.Uint64(b))
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return ""
		}
		return formatted(f)
	case 7:
		return signed(int64(b[0]))
	case 8:
		return signed(int64(order.Uint16(b)))
	case 9:
		return signed(int64(order.Uint32(b)))
	case 10:
		return signed(int64(order.Uint64(b)))
	}
	return descriptive.Number(strconv.FormatUint(order.Uint64(b), 10))
}

// variables reads the variables: their names, units and descriptions.
func (h *netCDF) variables() (all []descriptive.Value) {
	for range h.list(variableTag) {
		column := labelled{name: clean(h.name())}
		for range h.length() {
			h.count() // the index of a dimension
		}
		about := ""
		for _, a := range h.attributes() {
			switch a.name {
			case "units":
				column.unit = a.value.Text()
			case "long_name":
				about = a.value.Text()
			}
		}
		h.word() // type
		h.count()
		if h.read(4); h.version != 1 {
			h.read(4)
		}
		if h.err != nil {
			return nil
		}
		if len(all) < maxList {
			all = append(all, column.value(about))
		}
	}
	return all
}

// length reads the number of dimensions of a variable.
func (h *netCDF) length() int64 {
	n := h.count()
	if h.err == nil && n > maxItems {
		h.err = malformed("a NetCDF variable has %d dimensions", n)
	}
	if h.err != nil {
		return 0
	}
	return n
}
