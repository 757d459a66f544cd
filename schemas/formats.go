package schemas

import (
	"errors"
	"regexp"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// formatNouns say what people are to write where a schema asks for a format.
var formatNouns = map[string]string{
	"date":      "a date such as 2026-01-31",
	"time":      "a time with its zone, such as 14:30:00Z",
	"date-time": "a date and time with its zone, such as 2026-01-31T14:30:00Z",
	"duration":  "a duration such as P3DT2H",
	"email":     "an e-mail address",
	"uri":       "an address with its scheme, such as https://example.org/",
	"uuid":      "a UUID",
}

// unchecked are the formats that the library checks and the standard does not know, or that it takes valid texts of for invalid ones.
var unchecked = []string{"uri-template", "period", "semver"}

// stricter are what texts of a format must match, too, since the library accepts some that the standard does not. They are compiled when a schema is, not
// at each start of the program.
var stricter = sync.OnceValue(func() map[string]*regexp.Regexp {
	// It has the characters of RFC 3986, brackets only around an address, and at most one @ before the path.
	uriReference := regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*:)?(//(` + uriName + `*@)?(\[` + uriName + `*\])?` + uriName + `*([/?#]` + uriRest + `*)?|/|/?[!#$%&'()*+,:;=?@A-Za-z0-9._~-]` + uriRest + `*)?$`)
	return map[string]*regexp.Regexp{
		"duration":      regexp.MustCompile(`^P(\d+W|(\d+Y(\d+M(\d+D)?)?|\d+M(\d+D)?|\d+D)?(T(\d+H(\d+M(\d+S)?)?|\d+M(\d+S)?|\d+S))?)$`),
		"email":         regexp.MustCompile(`^[^@]|^.+@.+@`),
		"hostname":      regexp.MustCompile(`[^.]$`),
		"ipv4":          regexp.MustCompile(`^[0-9.]+$`),
		"uri":           uriReference,
		"uri-reference": uriReference,
	}
})

const (
	uriName = `[!$%&'()*+,:;=A-Za-z0-9._~-]`
	uriRest = `[!#$%&'()*+,/:;=?@A-Za-z0-9._~-]`
)

var errFormat = errors.New("is not of the format")

// checkFormat returns what checks a value against a format: the library's own check, and the stricter one. A nil format is none.
func checkFormat(f *jsonschema.Format) func(v any) error {
	if f == nil {
		return func(any) error { return nil }
	}
	if f.Name == "regex" {
		return validPattern
	}
	strict := stricter()[f.Name]
	return func(v any) error {
		if text, ok := v.(string); ok && strict != nil && !strict.MatchString(text) {
			return errFormat
		}
		return f.Validate(v)
	}
}
