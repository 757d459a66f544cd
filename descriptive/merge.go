package descriptive

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"
)

// Merge returns what a JSON Merge Patch (RFC 7396) makes of m: null removes a member or a property, an object is merged into the one that is there, lists
// are replaced whole. The patch null removes everything. It refuses what [Parse] refuses of the result; rules are left to [Metadata.Validate].
func (m Metadata) Merge(patch []byte) (Metadata, error) {
	p := jsontext.Value(patch)
	if err := checkPatch(p); err != nil {
		return Metadata{}, err
	}
	if p.Kind() == jsontext.KindNull {
		return Metadata{}, nil
	}
	merged, err := merge(m.Append(nil), p, maxDepth+2)
	if err != nil {
		return Metadata{}, err
	}
	return Parse(merged)
}

// checkPatch tells what is wrong with the JSON itself.
func checkPatch(patch jsontext.Value) error {
	if err := json.Unmarshal(patch, new(jsontext.Value)); err != nil {
		return parseError(err)
	}
	return nil
}

// merge merges patch into target, which may be nil. Below depth it leaves the patch as it is: Parse refuses that.
func merge(target, patch jsontext.Value, depth int) (jsontext.Value, error) {
	if patch.Kind() != jsontext.KindBeginObject || depth == 0 {
		return patch, nil
	}
	var changes, merged map[string]jsontext.Value
	if err := json.Unmarshal(patch, &changes); err != nil {
		return nil, err
	}
	if target.Kind() == jsontext.KindBeginObject {
		if err := json.Unmarshal(target, &merged); err != nil {
			return nil, err
		}
	} else {
		merged = make(map[string]jsontext.Value, len(changes))
	}
	seen := make(map[string]bool, len(changes))
	for name, change := range changes {
		name = norm.NFC.String(name)
		if seen[name] {
			return nil, &Error{Root, "must not have " + shorten(name) + " twice"}
		}
		seen[name] = true
		if change.Kind() == jsontext.KindNull {
			delete(merged, name)
			continue
		}
		value, err := merge(merged[name], change, depth-1)
		if err != nil {
			return nil, err
		}
		merged[name] = value
	}
	return json.Marshal(merged)
}
