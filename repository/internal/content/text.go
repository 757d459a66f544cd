package content

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

const (
	// leastOfHigh is the minimum size in bytes of a text in an unknown encoding that consists only
	// of bytes above ASCII, without a control character.
	leastOfHigh = 256
	// mostControls is the maximum number of control characters per thousand characters of a text.
	mostControls = 1
)

// documents lists the beginnings of formats that start like text but are not text.
var documents = []string{"%PDF-", "SIMPLE  ="}

// Text returns the text of a file or of its beginning. It accepts UTF-8, UTF-16 with or without a
// byte order mark, and Windows-1252, which includes Latin-1. Of a text in another encoding it
// returns the ASCII characters. The last character may be cut off. ok is false for any other file,
// whatever its name.
func Text(raw []byte) (text string, ok bool) {
	if order := utf16Order(raw); order != nil {
		return textOfUTF16(raw, order)
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	for _, beginning := range documents {
		if bytes.HasPrefix(raw, []byte(beginning)) {
			return "", false
		}
	}
	controls, highs, rest, ok := count(raw)
	whole := withoutCut(raw)
	if len(whole) == 0 || !ok || controls*1000 > mostControls*len(raw) {
		return "", false // before the costlier checks: most files of a lab end here
	}
	multibyte, invalid := sequences(whole)
	switch {
	case invalid == 0:
		return string(whole), true
	case multibyte > invalid: // a few bytes are damaged
		return strings.ToValidUTF8(string(raw), " "), true
	case controls == 0 && highs*10 <= 3*rest && !slices.ContainsFunc(undefined, func(c byte) bool { return bytes.IndexByte(raw, c) >= 0 }):
		text, err := charmap.Windows1252.NewDecoder().String(string(raw))
		return text, err == nil
	}
	if controls > 0 || rest == 0 || len(raw) < leastOfHigh {
		return "", false
	}
	return strings.ToValidUTF8(string(raw), " "), true
}

// undefined lists the bytes that have no character in Windows-1252.
var undefined = []byte{0x81, 0x8d, 0x8f, 0x90, 0x9d}

// The classes of a byte.
const (
	ascii = iota
	high
	control // characters that do not occur in text
	classes
)

// classOf maps each byte except NUL to its class.
var classOf = func() (of [256]uint8) {
	for c := range of {
		switch {
		case c >= utf8.RuneSelf:
			of[c] = high
		case c < ' ' && !strings.ContainsRune("\a\b\t\n\v\f\r\x1a\x1b", rune(c)), c == 0x7f:
			of[c] = control
		}
	}
	return of
}()

// count counts the control characters that do not occur in text, the bytes above ASCII, and the
// other bytes. ok is false if raw contains a NUL byte.
func count(raw []byte) (controls, highs, rest int, ok bool) {
	if bytes.IndexByte(raw, 0) >= 0 {
		return 0, 0, 0, false
	}
	var n [classes]int
	for _, c := range raw {
		n[classOf[c]]++
	}
	return n[control], n[high], n[ascii], true
}

// sequences counts the multi-byte characters of UTF-8, and the bytes that are not valid UTF-8.
func sequences(raw []byte) (multibyte, invalid int) {
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		switch {
		case size > 1:
			multibyte++
		case r == utf8.RuneError:
			invalid++
		}
		raw = raw[size:]
	}
	return multibyte, invalid
}

// withoutCut returns raw without an incomplete UTF-8 character at its end.
func withoutCut(raw []byte) []byte {
	for cut := 1; cut < utf8.UTFMax && cut <= len(raw); cut++ {
		tail := raw[len(raw)-cut:]
		if utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return raw[:len(raw)-cut]
			}
			break
		}
	}
	return raw
}

// utf16Order returns the byte order of a UTF-16 text. It is the order of the byte order mark, or
// else the one in which most characters are below 256. It is nil for other files.
func utf16Order(raw []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(raw, []byte("\xff\xfe\x00\x00")):
		return nil
	case bytes.HasPrefix(raw, []byte("\xff\xfe")):
		return binary.LittleEndian
	case bytes.HasPrefix(raw, []byte("\xfe\xff")):
		return binary.BigEndian
	}
	zeros, units := [2]int{}, len(raw)/2
	for i, c := range raw[:2*units] {
		if c == 0 {
			if zeros[i%2]++; zeros[1-i%2] > 0 {
				return nil
			}
		}
	}
	switch {
	case units < 4:
	case zeros[0] == 0 && zeros[1]*2 > units:
		return binary.LittleEndian
	case zeros[1] == 0 && zeros[0]*2 > units:
		return binary.BigEndian
	}
	return nil
}

func textOfUTF16(raw []byte, order binary.ByteOrder) (string, bool) {
	endian := unicode.LittleEndian
	if order == binary.BigEndian {
		endian = unicode.BigEndian
	}
	decoded, err := unicode.UTF16(endian, unicode.UseBOM).NewDecoder().Bytes(raw[:len(raw)&^1])
	controls, highs, rest, ok := count(decoded)
	if err != nil || !ok || controls != 0 || highs+rest == 0 || bytes.Count(decoded, []byte("\ufffd")) > 1 { // a surrogate may be cut off
		return "", false
	}
	text := strings.TrimSuffix(string(decoded), "\ufffd")
	return text, text != ""
}
