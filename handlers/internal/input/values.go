package input

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"labshelf/auth"
	"labshelf/formats/descriptive"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/containers"
	"labshelf/repository/core"
)

// The functions with a pointer return a function that reads a field and stores its value there.

func str(field string, value any) (string, error) {
	s, ok := value.(string)
	if !ok {
		return "", core.Invalid(field, "%s must be a string", field)
	}
	return s, nil
}

func text(at **string) func(string, any) error {
	return func(field string, value any) error {
		s, err := str(field, value)
		if err == nil {
			*at = &s
		}
		return err
	}
}

// idText is the rule for the id of an optional object.
var idText = core.TextRule{Min: 1, Max: core.MaxNameBytes, Bytes: true}

// ruled reads a string that follows a rule. A missing field is "".
func ruled(rule core.TextRule, at *string) func(string, any) error {
	return func(field string, value any) error {
		s, err := str(field, value)
		if err == nil {
			err = rule.Check(field, s)
		}
		if err == nil {
			*at = s
		}
		return err
	}
}

func truth(at **bool) func(string, any) error {
	return func(field string, value any) error {
		b, ok := value.(bool)
		if !ok {
			return core.Invalid(field, "%s must be true or false", field)
		}
		*at = &b
		return nil
	}
}

func texts(at *[]string) func(string, any) error {
	return func(field string, value any) error {
		list, ok := value.([]any)
		found := make([]string, len(list))
		for i, item := range list {
			var isText bool
			found[i], isText = item.(string)
			ok = ok && isText
		}
		if !ok {
			return core.Invalid(field, "%s must be a list of strings", field)
		}
		*at = found
		return nil
	}
}

// patch reads a merge patch of descriptive metadata.
func patch(at *descriptive.Patch) func(string, any) error {
	return func(field string, value any) error {
		raw, ok := value.(json.RawMessage)
		if !ok {
			return core.Invalid(field, "%s must be an object", field)
		}
		*at = descriptive.Patch(raw)
		return nil
	}
}

// instant reads an instant before the year 10000.
func instant(at **metadata.Stamp) func(string, any) error {
	return func(field string, value any) error {
		s, err := str(field, value)
		if err != nil {
			return err
		}
		micros, _, err := paging.ParseInstant(s)
		if bad, is := errors.AsType[*paging.Error](err); is {
			return core.Invalid(field, "%s: %s", field, bad.Message)
		}
		stamp := max(metadata.Stamp(micros), 1) // not 0, which stands for no time
		if err == nil && stamp.Time().Year() > 9999 {
			return core.Invalid(field, "%s must be before the year 10000", field)
		}
		*at = &stamp
		return err
	}
}

func quota(at **int64) func(string, any) error {
	return func(field string, value any) error {
		number, _ := value.(json.Number)
		bytes, err := strconv.ParseInt(number.String(), 10, 64)
		if err != nil || bytes < 0 {
			return core.Invalid(field, "%s must be a whole number of bytes; 0 is no limit", field)
		}
		*at = &bytes
		return nil
	}
}

func role(at *auth.Role) func(string, any) error {
	return func(field string, value any) error {
		s, err := str(field, value)
		if err != nil {
			return err
		}
		var ok bool
		if *at, ok = auth.ParseRole(s); !ok {
			return core.Invalid(field, "role must be member, editor or admin")
		}
		return nil
	}
}

func visibility(at **metadata.Visibility) func(string, any) error {
	return func(field string, value any) error {
		s, err := str(field, value)
		if err != nil {
			return err
		}
		for _, v := range []metadata.Visibility{metadata.Private, metadata.Public, metadata.Open} {
			if v.String() == strings.ToLower(s) {
				*at = &v
				return nil
			}
		}
		return core.Invalid(field, "visibility must be private, public or open")
	}
}

func retention(at **metadata.Retention) func(string, any) error {
	return func(field string, value any) error {
		s, err := str(field, value)
		if err != nil {
			return err
		}
		kept, err := containers.ParseRetention(s)
		*at = &kept
		return err
	}
}

func extract(at **metadata.Extract) func(string, any) error {
	return func(field string, value any) error {
		var words []string
		if err := texts(&words)(field, value); err != nil {
			return err
		}
		sources, ok := metadata.ParseExtract(words)
		if !ok {
			return core.Invalid(field, "%s is a list of sidecar and header, each at most once", field)
		}
		*at = &sources
		return nil
	}
}
