package describe

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"labshelf/client"
)

// Rows returns metadata for display: names and values, one row a property, in the order of the
// service.
func Rows(m client.Metadata) (rows [][2]string, err error) {
	err = eachMember([]byte(m), func(name string, value json.RawMessage) error {
		switch name {
		case "schema": // the id of a schema is not informative
			return nil
		case "sources":
			filled, err := filledFrom(value)
			rows = append(rows, filled...)
			return err
		case "properties":
		default:
			rows = append(rows, [2]string{name, textOf(value)})
			return nil
		}
		return eachMember(value, func(name string, value json.RawMessage) error {
			rows = append(rows, [2]string{name, valueOf(value)})
			return nil
		})
	})
	return rows, err
}

// filledFrom lists the properties that were filled from file headers, one row for each source.
func filledFrom(sources json.RawMessage) (rows [][2]string, err error) {
	names := map[string][]string{}
	err = eachMember(sources, func(name string, source json.RawMessage) error {
		from := textOf(source)
		names[from] = append(names[from], name)
		return nil
	})
	for _, from := range slices.Sorted(maps.Keys(names)) {
		rows = append(rows, [2]string{"(from the " + from + ")", strings.Join(names[from], ", ")})
	}
	return rows, err
}

// Problem formats a problem of properties for display: the name, then the problem.
func Problem(p client.PropertyProblem) string {
	names := strings.Split(strings.TrimPrefix(p.Path, "/"), "/")
	for i, name := range names {
		names[i] = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
	}
	return strings.TrimSpace(strings.Join(names, ".") + " " + p.Message)
}

// eachMember calls fn for the members of a JSON object, in order. "" has no members.
func eachMember(object []byte, fn func(name string, value json.RawMessage) error) error {
	if len(object) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(object))
	if _, err := decoder.Token(); err != nil {
		return err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		text, _ := name.(string)
		if err := fn(text, value); err != nil {
			return err
		}
	}
	_, err := decoder.Token()
	return err
}

// valueOf is textOf, with quotation marks around a string that looks like another value: "20 °C".
func valueOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil && kindOf(text) != "" {
		return string(value)
	}
	return textOf(value)
}

// textOf formats a value for display: strings unchanged, a quantity with its unit, a list with
// commas, and any other value as JSON.
func textOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil {
		texts := make([]string, len(list))
		for i, element := range list {
			texts[i] = valueOf(element)
		}
		return strings.Join(texts, ", ")
	}
	var q struct {
		Value json.Number `json:"value"`
		Unit  string      `json:"unit"`
	}
	strict := json.NewDecoder(bytes.NewReader(value))
	strict.DisallowUnknownFields()
	if strict.Decode(&q) == nil && q.Value != "" && q.Unit != "" {
		return q.Value.String() + " " + q.Unit
	}
	return string(value)
}
