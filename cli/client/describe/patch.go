// Package describe builds the request of "labshelf describe" from its flags, and formats the
// metadata of an object.
package describe

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"labshelf/cli/exit"
	"labshelf/client"
	"labshelf/formats/descriptive/units"
)

// Edit has the values of the flags.
type Edit struct {
	Set   []string // NAME=TEXT, or NAME:=VALUE
	Unset []string // names
	Tag   []string
	Untag []string
	File  string // path of a merge patch; "-": standard input; "": none
}

// IsZero reports whether no flag is set.
func (e Edit) IsZero() bool {
	return len(e.Set)+len(e.Unset)+len(e.Tag)+len(e.Untag) == 0 && e.File == ""
}

// ChangesTags reports whether the patch depends on the existing tags: a list can only be replaced
// as a whole.
func (e Edit) ChangesTags() bool { return len(e.Tag)+len(e.Untag) > 0 }

// Patch returns a merge patch: the patch of the file, which patch reads, with the flags on top.
// present are the object's metadata.
func (e Edit) Patch(patch io.Reader, present client.Metadata) (client.Metadata, error) {
	changes := map[string]any{}
	if e.File != "" {
		if err := decode(patch, &changes); err != nil {
			return "", exit.Usagef("%s must have a JSON object: %v", e.File, err)
		}
	}
	for _, text := range e.Set {
		name, value, err := assignment(text)
		if err == nil {
			err = put(changes, name, value)
		}
		if err != nil {
			return "", err
		}
	}
	for _, name := range e.Unset {
		if err := put(changes, name, nil); err != nil {
			return "", err
		}
	}
	if e.ChangesTags() {
		tags, err := e.tags(present)
		if err != nil {
			return "", err
		}
		changes["tags"] = tags
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(changes)
	return client.Metadata(bytes.TrimSpace(text.Bytes())), err
}

// tags returns the object's tags with the changes, in order, or nil if no tag is left.
func (e Edit) tags(present client.Metadata) (any, error) {
	var m struct{ Tags []string }
	if err := json.Unmarshal([]byte(cmp.Or(present, "{}")), &m); err != nil {
		return nil, fmt.Errorf("this program does not know the format of the service's metadata: %w", err)
	}
	tags := slices.DeleteFunc(slices.Clone(m.Tags), func(tag string) bool { return slices.Contains(e.Untag, tag) })
	for _, tag := range e.Tag {
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	if len(tags) == 0 {
		return nil, nil
	}
	return tags, nil
}

// assignment parses NAME=TEXT, or NAME:=VALUE with JSON, a number, or a number and its unit.
func assignment(text string) (name string, value any, err error) {
	name, rest, ok := strings.Cut(text, "=")
	name, typed := strings.CutSuffix(name, ":")
	if !ok || name == "" {
		return "", nil, exit.Usagef("--set must be NAME=TEXT or NAME:=VALUE, not %q", text)
	}
	if !typed {
		return name, rest, nil
	}
	if decode(strings.NewReader(rest), &value) == nil {
		return name, value, nil
	}
	q, err := units.Read(rest, units.DecimalPoint)
	if wrong, is := errors.AsType[*units.Error](err); is {
		return "", nil, refusal(name, rest, wrong)
	}
	if q.Unit == "" {
		return name, json.Number(q.Number), nil
	}
	return name, map[string]any{"value": json.Number(q.Number), "unit": q.Unit}, nil
}

// refusal returns the error for a value that is neither JSON nor a quantity. It says how the value
// was parsed, and what to write.
func refusal(name, value string, wrong *units.Error) error {
	switch {
	case wrong.Ambiguous:
		return exit.Usagef("%s: %v", name, wrong)
	case wrong.Number != "" && !units.Continues(wrong.Rest):
		return exit.Usagef(`%s: %v; write a string as %s=%s, and another unit as %s:={"value":%s,"unit":%q}`, name, wrong, name, value, name, wrong.Number, wrong.Rest)
	case wrong.Number != "":
		return exit.Usagef("%s: %v; write a string as %s=%s", name, wrong, name, value)
	}
	return exit.Usagef("after %s:= there must be JSON, such as 20, true, [1,2] or null, or a number with a unit, such as 20 °C; for a string write %s=%s", name, name, value)
}

// TextsLikeValues returns a hint for each property that is set to a string that looks like another
// value, such as 20 °C.
func (e Edit) TextsLikeValues() (hints []string) {
	for _, text := range e.Set {
		name, value, err := assignment(text)
		said, isText := value.(string)
		if kind := kindOf(said); err == nil && isText && !strings.HasPrefix(text, name+":=") && kind != "" {
			hints = append(hints, fmt.Sprintf("%s is the text %q; for %s write --set '%s:=%s'", name, said, kind, name, said))
		}
	}
	return hints
}

// kindOf returns what kind of value a text would be behind :=, or "" for a string.
func kindOf(text string) string {
	if text == "true" || text == "false" {
		return "true or false"
	}
	switch q, err := units.Read(text, units.DecimalPoint); {
	case err != nil:
		return ""
	case q.Unit == "":
		return "a number"
	}
	return "a quantity"
}

// put sets a property by its name, in which dots separate groups.
func put(changes map[string]any, name string, value any) error {
	at, path := changes, append([]string{"properties"}, strings.Split(name, ".")...)
	for _, group := range path[:len(path)-1] {
		inner, ok := at[group].(map[string]any)
		if !ok && at[group] != nil {
			return exit.Usagef("%s cannot be set: %s has another value", name, group)
		}
		if !ok {
			inner = map[string]any{}
			at[group] = inner
		}
		at = inner
	}
	at[path[len(path)-1]] = value
	return nil
}

// decode reads one JSON value, and keeps numbers as they are written.
func decode(from io.Reader, into any) error {
	decoder := json.NewDecoder(from)
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	end := decoder.InputOffset()
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf("there is extra text after the JSON, which ends before byte %d", end)
	}
	return nil
}
