// Package encode writes JSON as the interface has it: any value by encoding/json; resources and
// versions, of which pages are full, by a template of their JSON.
package encode

import (
	"bytes"
	"encoding/json"
)

// JSON returns v as the interface writes it: one member per line, in the order of the fields,
// non-ASCII as it is.
func JSON(v any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		panic(err) // the types of the interface can be encoded
	}
	return unescapeSeparators(out.Bytes())
}

// unescapeSeparators writes U+2028 and U+2029 as they are, which encoding/json escapes for the sake
// of old JavaScript.
func unescapeSeparators(encoded []byte) []byte {
	if !bytes.Contains(encoded, []byte(`\u202`)) {
		return encoded
	}
	out := make([]byte, 0, len(encoded))
	for len(encoded) > 0 {
		step := 1
		switch {
		case bytes.HasPrefix(encoded, []byte(`\u2028`)):
			out, encoded = append(out, "\u2028"...), encoded[6:]
			continue
		case bytes.HasPrefix(encoded, []byte(`\u2029`)):
			out, encoded = append(out, "\u2029"...), encoded[6:]
			continue
		case encoded[0] == '\\':
			step = 2 // an escape: its second character begins no other
		}
		out, encoded = append(out, encoded[:step]...), encoded[step:]
	}
	return out
}
