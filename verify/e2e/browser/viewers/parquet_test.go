package viewers

import "encoding/binary"

// thrift is a struct in Thrift's compact protocol, built field by field.
type thrift struct {
	bytes []byte
	last  int
}

func (s *thrift) head(field int, kind byte) {
	s.bytes = append(s.bytes, byte(field-s.last)<<4|kind)
	s.last = field
}

func (s *thrift) int(field, value int) *thrift {
	s.head(field, 6)
	s.bytes = binary.AppendVarint(s.bytes, int64(value))
	return s
}

func (s *thrift) text(field int, value string) *thrift {
	s.head(field, 8)
	s.bytes = append(append(s.bytes, byte(len(value))), value...)
	return s
}

func (s *thrift) inner(field int, inner *thrift) *thrift {
	s.head(field, 12)
	s.bytes = append(append(s.bytes, inner.bytes...), 0)
	return s
}

func (s *thrift) list(field int, inner ...*thrift) *thrift {
	s.head(field, 9)
	s.bytes = append(s.bytes, byte(len(inner))<<4|12)
	for _, i := range inner {
		s.bytes = append(append(s.bytes, i.bytes...), 0)
	}
	return s
}

// parquetOf returns a Parquet file with a column of 32-bit integers. The file declares the number
// of rows, and its page declares the number of values and contains runs of indexes.
func parquetOf(rows, values int, runs []byte) string {
	header := new(thrift).int32(1, 0).int32(2, len(runs)).int32(3, len(runs)).inner(5, new(thrift).int32(1, values).int32(2, 8).int32(3, 3).int32(4, 3))
	page := append(append(header.bytes, 0), runs...)
	meta := new(thrift).int32(1, 1)
	meta.head(2, 9)
	meta.bytes = append(meta.bytes, 1<<4|5, 16) // RLE_DICTIONARY
	meta.head(3, 9)
	meta.bytes = append(meta.bytes, 1<<4|8, 1, 'a')
	meta.int32(4, 0).int(5, values).int(6, len(page)).int(7, len(page)).int(9, 4)
	group := new(thrift).list(1, new(thrift).int(2, 4).inner(3, meta)).int(2, len(page)).int(3, rows)
	schema := []*thrift{new(thrift).text(4, "schema").int32(5, 1), new(thrift).int32(1, 1).int32(3, 0).text(4, "a")}
	footer := append(new(thrift).int32(1, 1).list(2, schema...).int(3, rows).list(4, group).bytes, 0)
	content := append(append([]byte("PAR1"), page...), footer...)
	return string(binary.LittleEndian.AppendUint32(content, uint32(len(footer)))) + "PAR1"
}

func (s *thrift) int32(field, value int) *thrift {
	s.head(field, 5)
	s.bytes = binary.AppendVarint(s.bytes, int64(value))
	return s
}
