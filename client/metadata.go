package client

import (
	"bytes"
	"encoding/json"

	"labshelf/formats/descriptive"
)

// Metadata is descriptive metadata as the service sends them, a JSON object; "" where there are
// none, or a listing was not asked for them. To change them, it is a JSON Merge Patch (RFC 7396):
// null removes a member or a property, lists are replaced whole, "" changes nothing.
type Metadata string

// Parse reads metadata that the service has sent. An error tells what this program does not know,
// which a newer service may send.
func (m Metadata) Parse() (descriptive.Metadata, error) {
	if m == "" {
		return descriptive.Metadata{}, nil
	}
	return descriptive.Parse([]byte(m))
}

// MarshalJSON writes the object.
func (m Metadata) MarshalJSON() ([]byte, error) { return []byte(m), nil }

// UnmarshalJSON reads the object, in which every number stays as it was written.
func (m *Metadata) UnmarshalJSON(text []byte) error {
	var compact bytes.Buffer
	err := json.Compact(&compact, text)
	*m = Metadata(compact.String())
	return err
}
