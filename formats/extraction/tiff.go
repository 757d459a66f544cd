package extraction

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"time"

	"labshelf/formats/descriptive"
)

const (
	maxEntries = 4096    // of a directory
	maxBytes   = 4 << 20 // of a value
	maxPages   = 100_000 // that are counted
)

// tiff is a TIFF or BigTIFF file, or a part of a file in that form. Positions are relative to its
// beginning.
type tiff struct {
	source
	order binary.ByteOrder
	big   bool
}

// entry is a field of a directory.
type entry struct {
	kind  uint16
	count uint64
	value []byte // the value, or its position
}

type directory map[uint16]entry

// widths are the sizes of the types of values.
var widths = map[uint16]uint64{1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}

// The types of values that are not unsigned numbers.
const (
	asciiType     = 2
	rationalType  = 5
	signedByte    = 6
	undefinedType = 7
	signedShort   = 8
	signedLong    = 9
	signedRatio   = 10
	floatType     = 11
	doubleType    = 12
	signedLong8   = 17
)

// openTIFF reads the beginning of a file, and returns the position of its first directory.
func openTIFF(in source) (t tiff, first uint64, err error) {
	t = tiff{source: in, order: binary.BigEndian}
	b, err := in.section(0, min(in.size, 16))
	if err != nil {
		return t, 0, err
	}
	if len(b) < 8 {
		return t, 0, malformed("no TIFF header")
	}
	if string(b[:2]) == "II" {
		t.order = binary.LittleEndian
	}
	switch version := t.order.Uint16(b[2:]); {
	case version == 42:
		return t, uint64(t.order.Uint32(b[4:])), nil
	case version == 43 && len(b) == 16:
		t.big = true
		return t, t.order.Uint64(b[8:]), nil
	}
	return t, 0, malformed("no TIFF header")
}

// layout returns the sizes of a count, an entry and a pointer.
func (t tiff) layout() (countSize, entrySize, pointerSize int64) {
	if t.big {
		return 8, 20, 8
	}
	return 2, 12, 4
}

// pointer reads a number with the width of a position.
func (t tiff) pointer(b []byte) uint64 {
	if t.big {
		return t.order.Uint64(b)
	}
	return uint64(t.order.Uint32(b))
}

// entries returns the number of fields in a directory, and the position of the pointer to the next
// one.
func (t tiff) entries(at uint64) (n, next int64, err error) {
	countSize, entrySize, _ := t.layout()
	if at > math.MaxInt64/2 {
		return 0, 0, malformed("a directory is beyond the file")
	}
	b, err := t.section(int64(at), countSize)
	if err != nil {
		return 0, 0, err
	}
	n = int64(t.order.Uint16(b))
	if t.big {
		if count := t.order.Uint64(b); count > maxEntries {
			return 0, 0, malformed("a directory has %d fields", count)
		}
		n = int64(t.order.Uint64(b))
	}
	if n == 0 || n > maxEntries {
		return 0, 0, malformed("a directory has %d fields", n)
	}
	return n, int64(at) + countSize + n*entrySize, nil
}

// directory reads the fields of a directory; if a tag occurs twice, the first one counts. It skips
// unknown types.
func (t tiff) directory(at uint64) (directory, error) {
	n, next, err := t.entries(at)
	if err != nil {
		return nil, err
	}
	_, entrySize, pointerSize := t.layout()
	b, err := t.section(next-n*entrySize, n*entrySize)
	if err != nil {
		return nil, err
	}
	fields := directory{}
	for ; len(b) > 0; b = b[entrySize:] {
		tag, e := t.order.Uint16(b), entry{kind: t.order.Uint16(b[2:]), count: t.pointer(b[4:]), value: b[4+pointerSize : entrySize]}
		if _, there := fields[tag]; !there && widths[e.kind] != 0 {
			fields[tag] = e
		}
	}
	return fields, nil
}

// bytes returns the value of a field, or nil if the field is missing or too long, or its value lies
// beyond the file.
func (t tiff) bytes(e entry) []byte {
	width := widths[e.kind]
	if width == 0 || e.count == 0 || e.count > maxBytes/width {
		return nil
	}
	n := e.count * width
	if n <= uint64(len(e.value)) {
		return e.value[:n]
	}
	at := t.pointer(e.value)
	if at > math.MaxInt64/2 {
		return nil
	}
	b, err := t.section(int64(at), int64(n))
	if err != nil {
		return nil
	}
	return b
}

// numbers returns the numbers of a field, at most maxList. A rational number becomes its quotient,
// or NaN if it has none.
func (t tiff) numbers(e entry) (all []float64) {
	b, width := t.bytes(e), int(widths[e.kind])
	for ; len(b) >= width && width > 0 && len(all) < maxList; b = b[width:] {
		all = append(all, t.number(e.kind, b))
	}
	return all
}

func (t tiff) number(kind uint16, b []byte) float64 {
	switch kind {
	case signedByte:
		return float64(int8(b[0]))
	case signedShort:
		return float64(int16(t.order.Uint16(b)))
	case signedLong:
		return float64(int32(t.order.Uint32(b)))
	case signedLong8:
		return float64(int64(t.order.Uint64(b)))
	case rationalType:
		return ratio(float64(t.order.Uint32(b)), float64(t.order.Uint32(b[4:])))
	case signedRatio:
		return ratio(float64(int32(t.order.Uint32(b))), float64(int32(t.order.Uint32(b[4:]))))
	case floatType:
		return shortest(math.Float32frombits(t.order.Uint32(b)))
	case doubleType:
		return math.Float64frombits(t.order.Uint64(b))
	}
	switch widths[kind] {
	case 1:
		return float64(b[0])
	case 2:
		return float64(t.order.Uint16(b))
	case 4:
		return float64(t.order.Uint32(b))
	}
	return float64(t.order.Uint64(b))
}

func ratio(numerator, denominator float64) float64 {
	if denominator == 0 {
		return math.NaN()
	}
	return numerator / denominator
}

// one returns the number of a field, if the field exists and the number is finite.
func (t tiff) one(e entry) (n float64, ok bool) {
	all := t.numbers(e)
	if len(all) == 0 || math.IsNaN(all[0]) || math.IsInf(all[0], 0) {
		return 0, false
	}
	return all[0], true
}

// text returns the text of a field.
func (t tiff) text(e entry) string {
	if e.kind != asciiType && e.kind != undefinedType && e.kind != 1 {
		return ""
	}
	return cString(t.bytes(e))
}

// pages counts the directories in the chain that begins at a position. It returns 0 if the chain
// has a cycle or is too long.
func (t tiff) pages(at uint64) (n int) {
	seen := map[uint64]bool{}
	_, _, pointerSize := t.layout()
	for ; at != 0; n++ {
		_, next, err := t.entries(at)
		if err != nil || seen[at] || n == maxPages {
			return 0
		}
		seen[at] = true
		b, err := t.section(next, pointerSize)
		if err != nil {
			return 0
		}
		at = t.pointer(b)
	}
	return n
}

// readTIFF reads the first directory, its EXIF directory, and the description in the forms that
// microscopes write.
func readTIFF(in source, to *collector) error {
	t, first, err := openTIFF(in)
	if err != nil {
		return err
	}
	main, err := t.directory(first)
	if err != nil {
		return err
	}
	if n := t.pages(first); n > 0 {
		to.add("pages", integer(n))
	}
	for _, name := range []string{"ImageWidth", "ImageLength"} {
		if n, ok := t.one(main[tagOf[name]]); ok {
			to.add(name, descriptive.NumberOf(formatted(n)))
		}
	}
	if bits := t.numbers(main[tagOf["BitsPerSample"]]); len(bits) > 0 {
		to.add("BitsPerSample", numbersOf(uniform(bits)))
	}
	t.describe(main, to)
	return nil
}

// uniform reduces a list of equal numbers to one number.
func uniform(numbers []float64) []float64 {
	if distinct := slices.Compact(slices.Clone(numbers)); len(distinct) == 1 {
		return distinct
	}
	return numbers
}

// numbersOf returns a number or a list of numbers. It omits numbers that are not finite.
func numbersOf(numbers []float64) descriptive.Value {
	var list []descriptive.Value
	for _, n := range numbers {
		if v, ok := numberOf(n); ok {
			list = append(list, v)
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	return descriptive.ListOf(list...)
}

// describe adds the fields of the main directory, and of the EXIF and GPS directories that it
// refers to.
func (t tiff) describe(main directory, to *collector) {
	description := ""
	if e := main[tagOf["ImageDescription"]]; e.kind == asciiType {
		description, _, _ = strings.Cut(decode(t.bytes(e)), "\x00")
	}
	if !describeMicroscope(description, to) {
		to.text("ImageDescription", description)
	}
	t.add(main, mainTags, to)
	t.addResolution(main, to)
	t.addTime(main, "DateTime", "OffsetTime", to)
	for _, below := range []string{"ExifIFD", "GPSInfo"} {
		at, ok := t.one(main[tagOf[below]])
		if !ok || at < 0 {
			continue
		}
		fields, err := t.directory(uint64(at))
		if err != nil {
			continue // an error there does not affect the main directory
		}
		if below == "GPSInfo" {
			t.addPlace(fields, to)
			continue
		}
		t.add(fields, exifTags, to)
		t.addTime(fields, "DateTimeOriginal", "OffsetTimeOriginal", to)
		t.addTime(fields, "DateTimeDigitized", "OffsetTimeDigitized", to)
	}
}

// add adds the fields of a directory that are in the table tags.
func (t tiff) add(fields directory, tags []tag, to *collector) {
	for _, known := range tags {
		e, there := fields[known.number]
		switch {
		case !there:
		case known.unit == asText:
			to.text(known.name, t.text(e))
		default:
			if n, ok := t.one(e); ok {
				to.add(known.name, quantityOf(formatted(n), known.unit))
			}
		}
	}
}

// addResolution adds the number of pixels in an inch or a centimetre. Without such a unit only the
// ratio of both numbers has a meaning, so it adds nothing.
func (t tiff) addResolution(fields directory, to *collector) {
	unit := "1/in"
	if n, ok := t.one(fields[tagOf["ResolutionUnit"]]); ok {
		unit = map[float64]string{2: "1/in", 3: "1/cm"}[n]
	}
	for _, name := range []string{"XResolution", "YResolution"} {
		if n, ok := t.one(fields[tagOf[name]]); ok && unit != "" && n > 0 {
			to.add(name, descriptive.QuantityOf(formatted(n), unit))
		}
	}
}

// addTime adds a time, with its offset if the offset is known.
func (t tiff) addTime(fields directory, name, offset string, to *collector) {
	at, err := time.Parse("2006:01:02 15:04:05", t.text(fields[tagOf[name]]))
	if err != nil {
		return
	}
	text := at.Format("2006-01-02T15:04:05")
	if with := text + t.text(fields[tagOf[offset]]); descriptive.TextOf(with).Form() == descriptive.Time {
		text = with
	}
	to.text(name, text)
}

// addPlace adds the place and time of a picture.
func (t tiff) addPlace(fields directory, to *collector) {
	for _, name := range []string{"GPSLatitude", "GPSLongitude"} {
		dms := t.numbers(fields[tagOf[name]])
		if len(dms) != 3 {
			continue
		}
		degrees := dms[0] + dms[1]/60 + dms[2]/3600
		if ref := t.text(fields[tagOf[name+"Ref"]]); ref == "S" || ref == "W" {
			degrees = -degrees
		}
		if !math.IsNaN(degrees) && math.Abs(degrees) <= 180 {
			to.add(name, descriptive.QuantityOf(formatted(math.Round(degrees*1e8)/1e8), "°"))
		}
	}
	if altitude, ok := t.one(fields[tagOf["GPSAltitude"]]); ok {
		if below, ok := t.one(fields[tagOf["GPSAltitudeRef"]]); ok && below == 1 {
			altitude = -altitude
		}
		to.add("GPSAltitude", descriptive.QuantityOf(formatted(altitude), "m"))
	}
	if direction, ok := t.one(fields[tagOf["GPSImgDirection"]]); ok {
		to.add("GPSImgDirection", descriptive.QuantityOf(formatted(direction), "°"))
	}
}
