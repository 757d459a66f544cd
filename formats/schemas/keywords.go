package schemas

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// counting are the keywords whose value is a count.
var counting = map[string]bool{
	"minLength": true, "maxLength": true, "minItems": true, "maxItems": true, "minContains": true, "maxContains": true,
	"minProperties": true, "maxProperties": true,
}

// checkKeywords rejects a draft other than 2020-12, counts beyond 2^53, and too many references.
func checkKeywords(schema any) error {
	if root, ok := schema.(map[string]any); ok {
		if draft, ok := root["$schema"].(string); ok && strings.TrimSuffix(draft, "#") != metaschema {
			return &Error{Path: "/$schema", Rule: "$schema", Message: fmt.Sprintf("only JSON Schema 2020-12 is supported: leave $schema out, or write %q", metaschema)}
		}
	}
	k := keywords{}
	if err := k.check(schema); err != nil {
		return err
	}
	if k.references > MaxReferences {
		return &Error{Rule: "size", Message: fmt.Sprintf("the schema has %d references; at most %d are allowed", k.references, MaxReferences)}
	}
	return nil
}

// keywords counts references in a schema.
type keywords struct{ references int }

// check examines all values within a value. This includes data, such as examples, which cannot be
// distinguished from schemas.
func (k *keywords) check(v any) *Error {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			err := k.member(name, member)
			if err == nil {
				err = k.check(member)
			}
			if err != nil {
				err.Path = "/" + escapePointer(name) + err.Path
				return err
			}
		}
	case []any:
		for i, item := range v {
			if err := k.check(item); err != nil {
				err.Path = fmt.Sprintf("/%d%s", i, err.Path)
				return err
			}
		}
	}
	return nil
}

// member examines one keyword.
func (k *keywords) member(name string, v any) *Error {
	switch v := v.(type) {
	case string:
		if name == "$ref" || name == "$dynamicRef" {
			k.references++
		}
	case json.Number:
		if f, err := v.Float64(); counting[name] && (err != nil || math.Abs(f) > 1<<53) {
			return &Error{Rule: name, Message: fmt.Sprintf("%s is at most %d", name, 1<<53)}
		}
	}
	return nil
}
