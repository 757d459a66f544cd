// Package describe makes what "labshelf describe" sends, from its flags, and shows what the service
// says of an object.
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

// Edit is what the flags say.
type Edit struct {
	Set   []string // NAME=TEXT, or NAME:=VALUE
	Unset []string // names
	Tag   []string
	Untag []string
	File  string // path of a merge patch; "-": standard input; "": none
}

// IsZero tells whether nothing is to be changed.
func (e Edit) IsZero() bool {
	return len(e.Set)+len(e.Unset)+len(e.Tag)+len(e.Untag) == 0 && e.File == ""
}

// ChangesTags tells whether the patch depends on the tags that there are: a list is replaced whole.
func (e Edit) ChangesTags() bool { return len(e.Tag)+len(e.Untag) > 0 }

// Patch returns a merge patch: that of the file, which patch has, over which the flags go. present
// is what the object has.
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

// tags are those of the object with the changes, in their order; nil: none is left.
func (e Edit) tags(present client.Metadata) (any, error) {
	var m struct{ Tags []string }
	if err := json.Unmarshal([]byte(cmp.Or(present, "{}")), &m); err != nil {
		return nil, fmt.Errorf("the service sends metadata that this program does not know: %w", err)
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

// assignment reads NAME=TEXT or NAME:=VALUE, which is JSON, a number, or a number and its unit.
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

// refusal says what was understood of a value that is neither JSON nor a quantity, and what to
// write.
func refusal(name, value string, wrong *units.Error) error {
	switch {
	case wrong.Ambiguous:
		return exit.Usagef("%s: %v", name, wrong)
	case wrong.Number != "" && !units.Continues(wrong.Rest):
		return exit.Usagef(`%s: %v; write a text as %s=%s, and another unit as %s:={"value":%s,"unit":%q}`, name, wrong, name, value, name, wrong.Number, wrong.Rest)
	case wrong.Number != "":
		return exit.Usagef("%s: %v; write a text as %s=%s", name, wrong, name, value)
	}
	return exit.Usagef("after %s:= there must be JSON, such as 20, true, [1,2] or null, or a number with a unit, such as 20 °C; for a text write %s=%s", name, name, value)
}

// TextsLikeValues returns a hint for each property that is set to a text that reads as another
// value: 20 °C.
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

// kindOf names what a text would be behind :=; "" for a text.
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

// put puts a property under its name, in which dots lead into groups.
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

// decode reads one JSON value, in which numbers stay as they are written.
func decode(from io.Reader, into any) error {
	decoder := json.NewDecoder(from)
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf("there is something behind it, at byte %d", decoder.InputOffset())
	}
	return nil
}
