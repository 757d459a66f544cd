package encode

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"unicode/utf8"

	"labshelf/blobs"
	"labshelf/handlers/wire"
	"labshelf/metadata"
)

// The functions below append values without reflection, because a page of 100 resources has 500
// ids, 500 texts, 400 numbers and 200 times.

// idPairs maps ten bits of an id to two letters. 13 pairs make an id, which is faster than 26
// single letters.
var idPairs = func() (pairs [1 << 10]uint16) {
	const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ" // the alphabet of ULIDs, 5 bits each
	for i := range pairs {
		pairs[i] = uint16(letters[i>>5]) | uint16(letters[i&31])<<8
	}
	return pairs
}()

// putID writes the text of an id to idLength bytes. The text stands for 130 bits, of which the
// first two are 0.
func putID(b []byte, id *metadata.ID) {
	high, low := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
	text := (*[idLength]byte)(b)
	putPair(text[0:], idPairs[high>>56])
	putPair(text[2:], idPairs[high>>46&1023])
	putPair(text[4:], idPairs[high>>36&1023])
	putPair(text[6:], idPairs[high>>26&1023])
	putPair(text[8:], idPairs[high>>16&1023])
	putPair(text[10:], idPairs[high>>6&1023])
	putPair(text[12:], idPairs[high<<4&1023|low>>60])
	putPair(text[14:], idPairs[low>>50&1023])
	putPair(text[16:], idPairs[low>>40&1023])
	putPair(text[18:], idPairs[low>>30&1023])
	putPair(text[20:], idPairs[low>>20&1023])
	putPair(text[22:], idPairs[low>>10&1023])
	putPair(text[24:], idPairs[low&1023])
}

// appendID appends the text of an id.
func appendID(b []byte, id *metadata.ID) []byte {
	b = append(b, make([]byte, idLength)...)
	putID(b[len(b)-idLength:], id)
	return b
}

// putPair writes two letters.
func putPair(b []byte, pair uint16) { b[0], b[1] = byte(pair), byte(pair>>8) }

const idLength = 26

// hexPairs maps a byte to two hexadecimal digits.
var hexPairs = func() (pairs [1 << 8]uint16) {
	for i := range pairs {
		pairs[i] = uint16(hexDigits[i>>4]) | uint16(hexDigits[i&15])<<8
	}
	return pairs
}()

const hexDigits = "0123456789abcdef"

func putDigest(b []byte, digest *blobs.Digest) {
	b = b[:2*len(digest)]
	for i, octet := range digest {
		putPair(b[2*i:], hexPairs[octet])
	}
}

// appendInstant appends a stamp in its wire form; a zero stamp is "".
func appendInstant(b []byte, s metadata.Stamp) []byte {
	if s == 0 {
		return b
	}
	return wire.AppendTime(b, s.Time())
}

// appendText appends the content of a JSON string, without quotes, as [JSON] writes it.
func appendText(b []byte, s string) []byte {
	clean := 0 // bytes from clean to i are not written yet and need no escape
	for i := 0; i < len(s); {
		if i += plainRun(s[i:]); i == len(s) {
			break
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r >= utf8.RuneSelf && (r != utf8.RuneError || size > 1) {
			i += size
			continue
		}
		b = appendEscape(append(b, s[clean:i]...), r)
		i += size
		clean = i
	}
	return append(b, s[clean:]...)
}

// plainRun returns the number of bytes at the beginning that need no escape in a JSON string. It
// tests eight bytes at a time. The high bit of a byte of suspect marks a byte that needs one; only
// the first such mark is exact.
func plainRun(s string) (n int) {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for ; len(s)-n >= 8; n += 8 {
		x := load(s[n : n+8])
		quote, backslash := x^ones*'"', x^ones*'\\'
		suspect := x | (x - ones*' ') | (quote - ones) | (backslash - ones)
		if suspect&high != 0 {
			break
		}
	}
	for n < len(s) && s[n] >= ' ' && s[n] != '"' && s[n] != '\\' && s[n] < utf8.RuneSelf {
		n++
	}
	return n
}

// load returns eight bytes as a number. The compiler turns it into one instruction.
func load(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// appendEscape appends the escape of a character, or the replacement character for an invalid byte.
func appendEscape(b []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	case utf8.RuneError:
		return append(b, `\ufffd`...)
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
}

func escaped(s string) string { return string(appendText(nil, s)) }

// Time converts a stamp to its wire form.
func Time(s metadata.Stamp) wire.Time {
	if s == 0 {
		return wire.Time{}
	}
	return wire.Time{Time: s.Time()}
}

// Epoch converts a stamp to milliseconds.
func Epoch(s metadata.Stamp) wire.Epoch { return wire.Epoch(s.Millis()) }

// Raw encodes a value for use within other JSON.
func Raw(v any) json.RawMessage { return bytes.TrimSpace(JSON(v)) }

// Instant returns the text of a stamp, or "".
func Instant(s metadata.Stamp) string {
	return string(appendInstant(nil, s))
}
