package display

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// WriteJSON writes one value to out, as a line of JSON. It escapes characters that would control a
// terminal: encoding/json does not escape those from U+007F on.
func WriteJSON(out io.Writer, value any) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := out.Write(escapeControls(line.Bytes()))
	return err
}

// escapeControls escapes the characters in JSON strings that are not graphic.
func escapeControls(text []byte) []byte {
	escaped := text[:0:0]
	for rest := text; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r < utf8.RuneSelf && r != 0x7f || unicode.IsGraphic(r) {
			escaped = append(escaped, rest[:size]...)
		} else {
			for _, unit := range utf16.Encode([]rune{r}) {
				escaped = fmt.Appendf(escaped, "\\u%04x", unit)
			}
		}
		rest = rest[size:]
	}
	return escaped
}
