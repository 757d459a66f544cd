package descriptive

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"
)

// Patch is a JSON Merge Patch (RFC 7396) of metadata, as it was sent; nil changes nothing.
type Patch []byte

// Merge applies a JSON Merge Patch (RFC 7396) to m: null removes a member or a property, an object
// is merged into the existing one, and lists are replaced as a whole. The patch null removes
// everything. Merge rejects a result that [Parse] rejects; [Metadata.Validate] checks the other
// rules.
func (m Metadata) Merge(patch []byte) (Metadata, error) {
	// Some editors save files with a byte order mark. Blanks instead of it keep the positions in
	// errors.
	p := jsontext.Value(bytes.TrimSpace(bytes.TrimPrefix(patch, []byte("\ufeff"))))
	if begin := bytes.Index(patch, p); begin > 0 {
		p = append(bytes.Repeat([]byte(" "), begin), p...)
	}
	if err := checkPatch(p); err != nil {
		return Metadata{}, parseError(err)
	}
	if p.Kind() == jsontext.KindNull {
		return Metadata{}, nil
	}
	merged, err := merge(m.Append(nil), p)
	if err != nil {
		return Metadata{}, parseError(err)
	}
	return Parse(merged)
}

// checkPatch returns an error for invalid JSON, or for JSON that is nested too deep.
func checkPatch(patch jsontext.Value) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(patch))
	for {
		_, err := d.ReadToken()
		switch {
		case err != nil:
			return err
		case d.StackDepth() > maxDepth+2: // the properties are within the object of all members, and may contain a quantity
			return refuse(d, "must not nest lists and groups deeper than %d levels", maxDepth)
		case d.StackDepth() == 0:
			return ended(patch, d.InputOffset())
		}
	}
}

// merge merges patch into target, which may be nil.
func merge(target, patch jsontext.Value) (jsontext.Value, error) {
	if patch.Kind() != jsontext.KindBeginObject {
		return patch, nil
	}
	changes, merged := map[string]jsontext.Value{}, map[string]jsontext.Value{}
	if err := json.Unmarshal(patch, &changes); err != nil {
		return nil, err
	}
	if target.Kind() == jsontext.KindBeginObject {
		if err := json.Unmarshal(target, &merged); err != nil {
			return nil, err
		}
	}
	seen := make(map[string]bool, len(changes))
	for name, change := range changes {
		name = norm.NFC.String(name)
		if seen[name] {
			return nil, &Error{Root, fmt.Sprintf("must not have %q twice", shorten(name))}
		}
		seen[name] = true
		if change.Kind() == jsontext.KindNull {
			delete(merged, name)
			continue
		}
		value, err := merge(merged[name], change)
		if err != nil {
			return nil, err
		}
		merged[name] = value
	}
	return json.Marshal(merged)
}
