package display

import (
	"encoding/json"
	"io"
)

// WriteJSON writes one value to out, as a line of JSON.
func WriteJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
