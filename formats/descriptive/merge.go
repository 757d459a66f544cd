package descriptive

import (
	"bytes"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"
)

// Patch is a JSON Merge Patch (RFC 7396) of metadata, as it was sent; nil changes nothing.
type Patch []byte

// Merge returns what a JSON Merge Patch (RFC 7396) makes of m: null removes a member or a property,
// an object is merged into the one that is there, lists are replaced whole. The patch null removes
// everything. It refuses what [Parse] refuses of the result; rules are left to [Metadata.Validate].
func (m Metadata) Merge(patch []byte) (Metadata, error) {
	patch = bytes.TrimPrefix(patch, []byte("\ufeff")) // of a file that an editor has saved
	p := jsontext.Value(bytes.TrimSpace(patch))
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

// checkPatch tells what is wrong with the JSON itself, and bounds its depth.
func checkPatch(patch jsontext.Value) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(patch))
	for {
		_, err := d.ReadToken()
		switch {
		case err == io.EOF && d.InputOffset() > 0:
			return nil
		case err != nil:
			return err
		case d.StackDepth() > maxDepth+2: // around the properties is the object of all members, and within them there may be a quantity
			return refuse(d, "must not hold lists and groups deeper than %d levels", maxDepth)
		case d.StackDepth() == 0 && len(bytes.TrimSpace(patch[d.InputOffset():])) > 0:
			return &Error{Root, fmt.Sprintf("must have nothing after it; there is something at byte %d", d.InputOffset())}
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
