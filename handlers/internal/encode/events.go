package encode

import (
	"bytes"
	"encoding/json"

	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/repository/events"
)

// Events encodes a batch of events as server-sent events, each with its id. A batch without events
// is a heartbeat: a comment, with the id if the position has moved. Clients send the last id when
// they reconnect.
func Events(b events.Batch) []byte {
	var text bytes.Buffer
	for _, e := range b.Events {
		name, shown := "change", wire.Event{Kind: e.Kind, DataspaceID: OptionalID(e.Dataspace), SetID: OptionalID(e.Set)}
		if e.Kind == events.Reload {
			name = events.Reload
		}
		if e.Object.Kind != 0 {
			shown.Object = wire.EventObject{Kind: e.Object.Kind.String(), ID: OptionalID(e.Object.ID)}
		}
		data, err := json.Marshal(shown)
		if err != nil {
			panic(err) // strings can always be encoded
		}
		writeLines(&text, "id: ", e.ID, "\nevent: ", name, "\ndata: ", string(data), "\n\n")
	}
	switch {
	case len(b.Events) > 0:
	case b.Moved:
		writeLines(&text, ":\nid: ", b.ID, "\n\n")
	default:
		text.WriteString(":\n\n")
	}
	return text.Bytes()
}

func writeLines(to *bytes.Buffer, parts ...string) {
	for _, part := range parts {
		to.WriteString(part)
	}
}

// OptionalID returns the text of an id, or "" for the zero id.
func OptionalID(id metadata.ID) string {
	if id == (metadata.ID{}) {
		return ""
	}
	return id.String()
}
