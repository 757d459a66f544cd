package schemas_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"labshelf/formats/schemas"
)

// most limits the time for compiling and validating. It is ten times the usual time, for busy
// machines.
const most = 5 * time.Second

// worst are the slowest known schemas and values within the limits of size.
var worst = []struct {
	name, schema, value string
	givenUp             bool // whether the budget of steps is exceeded
}{
	{"allOf of four at each of 20 levels", doubled(`"allOf":[%s,%[1]s,%[1]s,%[1]s]`), `1`, true},
	{"anyOf of four, and no alternative matches", doubled(`"anyOf":[%s,%[1]s,%[1]s,%[1]s]`), `"text"`, true},
	{"not of anyOf of four, and no alternative matches", doubled(`"not":{"anyOf":[%s,%[1]s,%[1]s,%[1]s]}`), `"text"`, true},
	{"oneOf of four", doubled(`"oneOf":[%s,%[1]s,%[1]s,%[1]s,false]`), `"text"`, true},
	{"if doubled", doubled(`"if":%s,"then":%[1]s,"else":%[1]s`), `1`, true},
	{"recursion into nested lists", `{"anyOf":[{"items":{"$ref":"#"},"maxItems":0},{"items":{"$ref":"#"},"minItems":2},{"items":{"$ref":"#"}}]}`, nested(45), true},
	{"dynamic recursion into nested lists", `{"$dynamicAnchor":"a","allOf":[{"items":{"$dynamicRef":"#a"}},{"items":{"$dynamicRef":"#a"}}]}`, nested(45), true},
	{"unevaluated items of many schemas", `{"allOf":[` + repeat(`{"contains":{"const":1}}`, 900, ",") + `],"unevaluatedItems":false}`, "[" + repeat("1", 30000, ",") + "]", true},
	{"unevaluated members of many schemas", `{"allOf":[` + repeat(`{"minProperties":1}`, 1900, ",") + `],"unevaluatedProperties":false}`, object(4000, "1"), true},
	{"unique small items", `{"uniqueItems":true}`, numbered(12000), false},
	{"unique lists in lists", `{"$defs":{"u":{"uniqueItems":true,"items":{"$ref":"#/$defs/u"}}},"$ref":"#/$defs/u"}`, "[" + repeat("["+numbered(5)+"]", 1000, ",") + "]", false},
	{"numbers in a large enum", `{"items":{"enum":[` + numbers(10000) + `]}}`, "[" + repeat("1e3", 16000, ",") + "]", true},
	{"strings in a large enum", `{"items":{"enum":[` + texts(5000) + `]}}`, "[" + repeat(`"t"`, 16000, ",") + "]", true},
	{"a large const", `{"items":{"enum":[` + repeat("["+repeat("1", 100, ",")+",2]", 300, ",") + `]}}`, "[" + repeat("["+repeat("1", 100, ",")+"]", 300, ",") + "]", true},
	{"a slow pattern", `{"pattern":"^(a|b|ab|[a-z]?){100}$"}`, `"` + strings.Repeat("ab", 32000) + `"`, true},
	{"a slow pattern that just fits", `{"pattern":"(a?){60}c"}`, `"` + strings.Repeat("a", 60000) + `"`, false},
	{"many patterns of long names", `{"patternProperties":{` + list(1000, `"(a|b)*%d$":{}`) + `}}`, object(3000, "1"), true},
	{"pattern of names", `{"propertyNames":{"pattern":"(a?){100}c"}}`, object(3000, "1"), false},
	{"the largest numbers", `{"items":{"multipleOf":7e-399,"minimum":-1e400,"exclusiveMaximum":1e400}}`, "[" + repeat("-1e399", 9000, ",") + "]", false},
	{"digits", `{"items":{"multipleOf":0.` + strings.Repeat("3", 390) + `}}`, "[" + repeat(strings.Repeat("7", 390), 160, ",") + "]", false},
	{"many problems", `{"items":{"anyOf":[` + repeat(`{"type":"object","required":["a"]},{"minimum":5}`, 10, ",") + `]}}`, "[" + repeat("1", 30000, ",") + "]", true},
	{"many required", `{"items":{"required":[` + texts(5000) + `]}}`, "[" + repeat("{}", 20000, ",") + "]", true},
	{"many dependent", `{"items":{"dependentRequired":{"a":[` + texts(5000) + `]}}}`, "[" + repeat(`{"a":1}`, 8000, ",") + "]", true},
	{"addresses", `{"items":{"format":"uri"}}`, "[" + repeat(`"http://a.b/`+strings.Repeat("c", 1000)+`"`, 60, ",") + "]", false},
	{"regular expressions of large programs", `{"items":{"format":"regex"}}`, "[" + repeat(`"((a{30}){30}){1,1}"`, 3000, ",") + "]", false},
	{"references to places that are no schemas", `{"allOf":[` + list(490, `{"$ref":"#/x/%d"}`) + `],"x":[` + repeat(`{"type":"integer"}`, 1000, ",") + `]}`, `1`, false},
	{"many ids", `{"$defs":{` + list(600, `"%[1]d":{"$id":"s%[1]d","$dynamicAnchor":"a"}`) + `}}`, `1`, false},
	{"dynamic anchors in data", `{"examples":[` + list(1900, `{"$dynamicAnchor":"a%d"}`) + `]}`, `1`, false},
	{"dynamic anchors", `{"$defs":{` + list(1500, `"%[1]d":{"$dynamicAnchor":"a%[1]d"}`) + `},"$dynamicRef":"#a7"}`, `1`, false},
	{"long names", `{"properties":{"` + strings.Repeat("n", 2000) + `":{"allOf":[` + repeat("{}", 500, ",") + `]}}}`, object(3000, "1"), false},
	{"many patterns", `{"allOf":[` + list(100, `{"pattern":"[a-z]{150}%d"}`) + `]}`, `"a"`, false},
	{"the metaschema", `{"items":{"$ref":"https://json-schema.org/draft/2020-12/schema"}}`, "[" + repeat(doubled(`"allOf":[%s,%[1]s]`), 10, ",") + "]", false},
}

// TestWorst compiles and validates the slowest cases. Each validation gets a verdict or is aborted
// in time.
func TestWorst(t *testing.T) {
	for i, test := range worst {
		if testing.Short() && i%4 != 0 {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			if len(test.schema) > schemas.MaxSchema || len(test.value) > schemas.MaxValue {
				t.Fatalf("schema of %d bytes, value of %d", len(test.schema), len(test.value))
			}
			start := time.Now()
			s, err := schemas.Compile([]byte(test.schema))
			compiled := time.Since(start)
			if err != nil {
				t.Fatal(err)
			}
			start = time.Now()
			problems := s.Validate(t.Context(), []byte(test.value))
			validated := time.Since(start)
			t.Logf("compiled in %v, validated in %v, aborted: %t, %d problems", compiled, validated, givenUp(problems), len(problems))
			if compiled > most || validated > most || givenUp(problems) != test.givenUp {
				t.Errorf("compiled in %v, validated in %v, aborted: %t", compiled, validated, givenUp(problems))
			}
		})
	}
}

// givenUp reports whether a validation was aborted.
func givenUp(problems []schemas.Problem) bool {
	return len(problems) == 1 && problems[0].Rule == schemas.RuleSteps
}

// doubled returns a schema that visits a value 2^20 to 4^20 times, because each of its parts
// applies the next one several times.
func doubled(text string) string {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, `"%d":{%s},`, i, fmt.Sprintf(text, fmt.Sprintf(`{"$ref":"#/$defs/%d"}`, i+1)))
	}
	return `{"$ref":"#/$defs/0","$defs":{` + b.String() + `"20":{"type":"integer"}}}`
}

func nested(depth int) string { return strings.Repeat("[", depth) + "1" + strings.Repeat("]", depth) }

func repeat(text string, n int, between string) string {
	return strings.TrimSuffix(strings.Repeat(text+between, n), between)
}

// list returns n formatted numbers, from 0.
func list(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+",", i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

func numbers(n int) string  { return list(n, "%d") }
func numbered(n int) string { return "[" + numbers(n) + "]" }
func texts(n int) string    { return list(n, `"t%d"`) }

// object returns an object of n members.
func object(n int, value string) string { return "{" + list(n, `"aaaaa%d":`+value) + "}" }

// TestLimits tests that input beyond a limit is rejected, with the rule of the limit.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ schema, rule, path string }{
		{strings.Repeat(" ", schemas.MaxSchema) + "{}", "size", ""},
		{strings.Repeat(`{"not":`, 60) + "true" + strings.Repeat("}", 60), "depth", strings.Repeat("/not", 48)},
		{`{"allOf":[` + repeat("true", 2001, ",") + `]}`, "size", ""},
		{`{"properties":{"` + strings.Repeat("n", 3000) + `":{"allOf":[` + repeat("{}", 500, ",") + `]}}}`, "size", ""},
		{`{"$ref":"#/$defs/none"}`, "reference", ""},
		{`{"allOf":[` + repeat(`{"$ref":"#/$defs/a"}`, 501, ",") + `],"$defs":{"a":true}}`, "size", ""},
		{`{"allOf":[` + list(60, `{"pattern":"a{799}%d"}`) + `]}`, "format", "/allOf/24/pattern"},
		{`{"$ref":"#/$defs/0","$defs":{` + strings.Join(chain(70), ",") + `}}`, "depth", ""},
		{`{"$ref":"#"}`, "cycle", ""},
		{`{"properties":{"a":{"anyOf":[{"type":"string"},{"$ref":"#/properties/a"}]}}}`, "cycle", "/properties/a"},
		{`{"$ref":"other.json"}`, "reference", ""},
		{`{"$ref":"/etc/passwd"}`, "reference", ""},
		{`{"$ref":"file:///etc/passwd"}`, "reference", ""},
		{`{"$ref":"http://127.0.0.1/"}`, "reference", ""},
		{`{"$dynamicRef":"https://example.org/schema#a"}`, "reference", ""},
		{`{"$ref":"http://json-schema.org/draft-07/schema"}`, "$schema", ""},
		{`{"$schema":"http://json-schema.org/draft-07/schema#"}`, "$schema", "/$schema"},
		{`{"$schema":"https://example.org/own"}`, "$schema", "/$schema"},
		{`{"properties":{"a":{"$id":"b","$schema":"http://json-schema.org/draft-07/schema","type":"string"}}}`, "$schema", "/properties/a"},
		{`{"type":"text"}`, "enum", "/type"},
		{`{"type":"string","type":"number"}`, "json", "/type"},
		{`{"minimum":"1"}`, "type", "/minimum"},
		{`{"maxLength":1e30}`, "maxLength", "/maxLength"},
		{`{"maximum":1e401}`, "number", "/maximum"},
		{`{"maximum":1` + strings.Repeat("0", 400) + `}`, "number", "/maximum"},
		{`{"pattern":"(?=a)b"}`, "format", "/pattern"},
		{`{"pattern":"(?<!a)b"}`, "format", "/pattern"},
		{`{"pattern":"(a)\\1"}`, "format", "/pattern"},
		{`{"pattern":"\\u00b5"}`, "format", "/pattern"},
		{`{"pattern":"(a{50}){50}"}`, "format", "/pattern"},
		{`{"pattern":"[a-z]{1001}"}`, "format", "/pattern"},
		{`{"patternProperties":{"(?!a)":{}}}`, "propertyNames", "/patternProperties/(?!a)"},
		{`{"$anchor":"a","$defs":{"b":{"$anchor":"a"}}}`, "reference", ""},
		{`[]`, "type", ""}, {``, "json", ""}, {`{`, "json", ""}, {`{} {}`, "json", ""}, {"{\"title\":\"\xff\"}", "json", "/title"},
	} {
		_, err := schemas.Compile([]byte(test.schema))
		var got *schemas.Error
		if !errors.As(err, &got) || got.Rule != test.rule || got.Path != test.path || got.Message == "" {
			t.Errorf("%.100s: %v (%+v), want %s at %q", test.schema, err, got, test.rule, test.path)
		}
	}
}

// chain returns n schemas, each of which refers to the next.
func chain(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"%d":{"$ref":"#/$defs/%d"}`, i, i+1))
	}
	return append(all, fmt.Sprintf(`"%d":true`, n))
}

// TestContext tests that a validation ends with its context.
func TestContext(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"items":{"type":"integer"}}`)
	ended, end := context.WithCancel(t.Context())
	end()
	value := []byte(numbered(5000))
	if got := s.Validate(ended, value); len(got) != 1 || got[0].Rule != schemas.RuleSteps {
		t.Errorf("after the end of the context: %+v", got)
	}
	if got := s.Validate(t.Context(), value); len(got) != 0 {
		t.Errorf("after an aborted validation: %+v", got)
	}
}

func compile(t testing.TB, text string) *schemas.Schema {
	t.Helper()
	s, err := schemas.Compile([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
