// Package encode writes the JSON of the API. It uses encoding/json for most values, and prepared
// templates for resources and versions, which fill pages.
package encode

import (
	"bytes"
	"encoding/json"
)

// JSON encodes v as the API does: one member per line, in the order of the fields, without escapes
// for non-ASCII characters.
func JSON(v any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		panic(err) // the types of the API can always be encoded
	}
	return unescapeSeparators(out.Bytes())
}

// unescapeSeparators restores U+2028 and U+2029, which encoding/json escapes for old JavaScript.
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
			step = 2 // an escape sequence: its second character begins no other one
		}
		out, encoded = append(out, encoded[:step]...), encoded[step:]
	}
	return out
}
