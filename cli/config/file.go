package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"labshelf/cli/suggest"
)

// parseFile returns the settings in the text of a configuration file, by name. It reports all
// unknown keys together.
func parseFile(path string, text []byte) (map[string]Value, error) {
	var tree map[string]any
	err := toml.Unmarshal(text, &tree)
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		line, _ := bad.Position()
		return nil, fmt.Errorf("%s:%d: %s", path, line, strings.TrimPrefix(bad.Error(), "toml: "))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var known []string
	for _, s := range settings() {
		known = append(known, s.name)
	}
	lines, found := keyLines(text), make(map[string]Value, len(tree))
	var problems []error
	byLine := func(a, b string) int { return lines[a] - lines[b] }
	for _, name := range slices.SortedFunc(maps.Keys(tree), byLine) {
		from := fmt.Sprintf("%s:%d", path, lines[name])
		plain, ok := asText(tree[name])
		switch {
		case !slices.Contains(known, name):
			problems = append(problems, fmt.Errorf("%s: unknown key %q%s", from, name, suggest.DidYouMean("", name, known)))
		case !ok:
			problems = append(problems, fmt.Errorf("%s: %s must be a string, a whole number, true or false, or a list of strings", from, name))
		default:
			found[name] = Value{plain, from}
		}
	}
	return found, errors.Join(problems...)
}

// keyLines returns the line of each top-level key's first occurrence in a valid file, counted from
// 1.
func keyLines(text []byte) map[string]int {
	var nothing struct{} // an empty struct, so that the decoder reports the place of every key
	err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&nothing)
	lines := map[string]int{}
	var strict *toml.StrictMissingError
	if !errors.As(err, &strict) {
		return lines
	}
	for i := range strict.Errors {
		name := strict.Errors[i].Key()[0]
		if _, seen := lines[name]; !seen {
			lines[name], _ = strict.Errors[i].Position()
		}
	}
	return lines
}

// asText converts a TOML value to the form that environment variables use.
func asText(v any) (text string, ok bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool, int64:
		return fmt.Sprint(v), true
	case []any:
		list := make([]string, len(v))
		for i := range v {
			if list[i], ok = v[i].(string); !ok {
				return "", false
			}
		}
		return strings.Join(list, ","), true
	}
	return "", false
}

// fromFile returns the settings in a configuration file, by name.
func fromFile(path string, must bool) (map[string]Value, error) {
	if _, err := os.Stat(path); err != nil && !must {
		return nil, nil // if stat fails for another reason, the data directory cannot be used either
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the configuration file cannot be read: %w", err)
	}
	return parseFile(path, text)
}
