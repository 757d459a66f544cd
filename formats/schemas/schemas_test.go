package schemas_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"labshelf/formats/schemas"
)

// five is the example of docs/how-to/schemas.md.
func five(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/how-to/schemas.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 2 {
		t.Fatal("docs/how-to/schemas.md has no schema and no properties")
	}
	return blocks[0][1]
}

func TestProblems(t *testing.T) {
	t.Parallel()
	s := compile(t, five(t))
	for _, test := range []struct{ value, want string }{
		{`{"sample":"S-0042","temperature":{"value":20,"unit":"°C"},"method":"xrd","measured":"2026-01-31","steps":[{"what":"milled","minutes":5}]}`, ``},
		{`{}`, "/measured required is missing\n/sample required is missing"},
		{`{"sample":"42","measured":"31.1.2026","temperature":{"value":"20","unit":"F"},"method":"nmr","steps":[{}]}`,
			"/measured format must be a date such as 2026-01-31\n" +
				"/method oneOf must be \"xrd\" or \"sem\"\n" +
				"/sample pattern must match the regular expression ^S-[0-9]{4}$\n" +
				"/steps/0/what required is missing\n" +
				"/temperature/unit enum must be \"°C\" or \"K\"\n" +
				"/temperature/value type must be a number, not a text"},
		{`{"sample":"S-0042","measured":"2026-02-30","temperature":{"value":-300,"unit":"K"},"steps":[{"what":"","minutes":1.5}]}`,
			"/measured format must be a date such as 2026-01-31\n" +
				"/steps/0/minutes type must be a whole number, not a number\n" +
				"/steps/0/what minLength must have at least 1 character, and has 0\n" +
				"/temperature/value minimum must be at least -273.15"},
		{`{"sample":"S-0042","measured":"2026-01-31","a/b":1}`, "/a~1b additionalProperties is not a property that the schema knows"},
		{`[]`, " type must be a group of properties, not a list"},
		{`{"sample":"S-0042","sample":"S-0043"}`, "/sample json the value is not JSON at byte 19: duplicate object member name"},
		{`{"sample":1e999}`, "/sample json a number has at most 400 digits, and an exponent up to 400"},
		{`{"sample":"` + strings.Repeat("x", schemas.MaxValue) + `"}`, " json the value has 65549 bytes; at most 65536 are allowed"},
	} {
		var lines []string
		for _, p := range s.Validate(t.Context(), []byte(test.value)) {
			lines = append(lines, fmt.Sprintf("%s %s %s", p.Path, p.Rule, p.Message))
		}
		if diff := cmp.Diff(test.want, strings.Join(lines, "\n")); diff != "" {
			t.Errorf("%.100s (-want +got): %s", test.value, diff)
		}
	}
}

// TestMessages checks the message of each keyword for a value that violates it.
func TestMessages(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ schema, value, want string }{
		{`{"const":"a"}`, `1`, ` const must be "a"`},
		{`{"enum":[1,null,{"a":true}]}`, `2`, ` enum must be 1, null or {"a":true}`},
		{`{"enum":[` + numbers(50) + `]}`, `-1`, ` enum must be one of ` + strings.ReplaceAll(numbers(40), ",", ", ") + ` and 10 more`},
		{`{"maximum":0.1}`, `2`, ` maximum must be at most 0.1`},
		{`{"exclusiveMinimum":3}`, `3`, ` exclusiveMinimum must be more than 3`},
		{`{"exclusiveMaximum":3}`, `3`, ` exclusiveMaximum must be less than 3`},
		{`{"multipleOf":0.5}`, `0.7`, ` multipleOf must be a multiple of 0.5`},
		{`{"maxLength":2}`, `"äöü"`, ` maxLength must have at most 2 characters, and has 3`},
		{`{"minItems":1}`, `[]`, ` minItems must have at least 1 item, and has 0`},
		{`{"maxItems":1}`, `[1,2]`, ` maxItems must have at most 1 item, and has 2`},
		{`{"uniqueItems":true}`, `[1,2,1.0]`, ` uniqueItems has the same item twice, as number 1 and number 3`},
		{`{"minProperties":1}`, `{}`, ` minProperties must have at least 1 property, and has 0`},
		{`{"maxProperties":0}`, `{"a":1}`, ` maxProperties must have at most 0 properties, and has 1`},
		{`{"contains":{"const":1}}`, `[2]`, ` contains has no item that matches the schema of contains`},
		{`{"contains":{"const":1},"minContains":2}`, `[1]`, ` minContains has 1 items that match the schema of contains, but requires at least 2`},
		{`{"contains":{"const":1},"maxContains":1}`, `[1,1]`, ` maxContains has 2 items that match the schema of contains, but allows at most 1`},
		{`{"not":{"type":"null"}}`, `null`, ` not has a value that the schema excludes`},
		{`{"properties":{"a":false}}`, `{"a":1}`, `/a false is not allowed here`},
		{`{"unevaluatedProperties":false}`, `{"a":1}`, `/a false is not allowed here`},
		{`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, `/ab propertyNames is not a name that the schema allows`},
		{`{"properties":{"a":{"items":{"propertyNames":{"maxLength":1}}},"b":true}}`, `{"a":[{"ab":1},{"c":1}],"b":2}`, `/a/0/ab propertyNames is not a name that the schema allows`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `/b dependentRequired is missing, but required if "a" is given`},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, ` type must be a text or empty (null)`},
		{`{"anyOf":[{"type":"null"},{"type":"string","format":"email"}]}`, `"a"`, ` format must be an e-mail address`},
		{`{"oneOf":[{"minimum":1},{"maximum":5}]}`, `3`, ` oneOf matches more than one of the alternatives, and must match only one`},
		{`{"anyOf":[{"minimum":5},{"multipleOf":2}]}`, `3`, ` anyOf matches none of the alternatives that the schema allows`},
		{`{"$defs":{"a":{"type":"integer"}},"allOf":[{"$ref":"#/$defs/a"}]}`, `""`, ` type must be a whole number, not a text`},
		{`{"format":"ipv4"}`, `""`, ` format must be of the format ipv4`},
	} {
		var lines []string
		for _, p := range compile(t, test.schema).Validate(t.Context(), []byte(test.value)) {
			lines = append(lines, fmt.Sprintf("%s %s %s", p.Path, p.Rule, p.Message))
		}
		if diff := cmp.Diff(test.want, strings.Join(lines, "\n")); diff != "" {
			t.Errorf("%s %s (-want +got): %s", test.schema, test.value, diff)
		}
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"required":["a","b"],"properties":{"c":{"required":["d"]}},"allOf":[{"required":["b"]}],"dependentRequired":{"c":["e"]},"if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"required":["f"]}}`)
	for value, want := range map[string][]string{
		`{}`:                       {"/a", "/b"},
		`{"a":0,"b":null}`:         nil,
		`{"a":1,"b":2}`:            {"/f"},
		`{"c":{},"a":0}`:           {"/b", "/c/d", "/e"},
		`{"c":{"d":1},"a":0,"b"`:   nil,
		`{"c":"text","a":0,"b":0}`: {"/e"},
	} {
		if diff := cmp.Diff(want, s.Missing(t.Context(), []byte(value))); diff != "" {
			t.Errorf("%s (-want +got): %s", value, diff)
		}
	}
}

// TestForm checks the form for the documentation's example, and for each kind.
func TestForm(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ schema, want string }{
		{five(t), `{"title":"Measurement","open":false,"fields":[
			{"name":"sample","label":"Sample","help":"The number on the label.","kind":"text","required":true,"pattern":"^S-[0-9]{4}$"},
			{"name":"measured","label":"Measured on","kind":"date","required":true},
			{"name":"temperature","label":"Temperature","kind":"quantity","units":["°C","K"],"min":-273.15},
			{"name":"method","label":"Method","kind":"choice","choices":[{"value":"xrd","label":"X-ray diffraction"},{"value":"sem","label":"Electron microscopy"}]},
			{"name":"steps","label":"Preparation","kind":"list","item":{"label":"","kind":"group","fields":[
				{"name":"what","label":"What was done","kind":"text","required":true,"min":1},
				{"name":"minutes","label":"Minutes","kind":"integer","min":0,"default":10}]}}]}`},
		{`{"properties":{
			"b":{"type":"string","maxLength":1000},"a":{"type":"string","contentMediaType":"text/markdown","x-order":2},"c":{"type":["number","null"],"exclusiveMinimum":0,"maximum":1e3,"x-order":1},
			"d":{"type":"boolean","default":false},"e":{"$ref":"#/$defs/when","title":"When","description":"With zone"},"f":{"enum":[1,"two",null,1.50]},
			"g":{"anyOf":[{"type":"null"},{"type":"string","format":"uri"}]},"h":{"type":["string","number"]},"i":{"type":"array","items":{"type":"integer"},"minItems":1,"maxItems":3},
			"j":{"type":"object","properties":{"value":{"type":"integer"},"unit":{"type":"string"}}},"k":{"type":"object","properties":{"value":{"type":"number"},"unit":{"const":"mm"}},"required":["value"]},
			"l":{"type":"object"},"m":{"prefixItems":[{"type":"string"}],"type":"array"},"n":{"enum":[[1]]},"o":true,"p":{"const":"fixed"},"q":{"type":"array","items":{"type":"array","items":{"type":"string"}}}},
			"allOf":[{"required":["d"]},{"properties":{"r":{"type":"string"},"d":{"type":"string"}}}],
			"$defs":{"when":{"type":"string","format":"date-time","title":"Time"}}}`, `{"open":true,"fields":[
			{"name":"c","label":"c","kind":"number","min":0,"max":1000},{"name":"a","label":"a","kind":"longText"},{"name":"b","label":"b","kind":"longText","max":1000},
			{"name":"d","label":"d","kind":"truth","required":true,"default":false},{"name":"e","label":"When","help":"With zone","kind":"dateTime"},
			{"name":"f","label":"f","kind":"choice","choices":[{"value":1,"label":"1"},{"value":"two","label":"two"},{"value":null,"label":"null"},{"value":1.50,"label":"1.50"}]},
			{"name":"g","label":"g","kind":"text"},{"name":"h","label":"h","kind":"json"},{"name":"i","label":"i","kind":"list","min":1,"max":3,"item":{"label":"","kind":"integer"}},
			{"name":"j","label":"j","kind":"quantity"},{"name":"k","label":"k","kind":"quantity","units":["mm"]},
			{"name":"l","label":"l","kind":"json"},{"name":"m","label":"m","kind":"json"},{"name":"n","label":"n","kind":"json"},{"name":"o","label":"o","kind":"json"},
			{"name":"p","label":"p","kind":"choice","choices":[{"value":"fixed","label":"fixed"}]},{"name":"q","label":"q","kind":"json"},{"name":"r","label":"r","kind":"text"}]}`},
		{`{"properties":{"a/b~%":{"properties":{"z":{"type":"string"},"y":{"type":"string"}}}}}`,
			`{"open":true,"fields":[{"name":"a/b~%","label":"a/b~%","kind":"group","fields":[{"name":"z","label":"z","kind":"text"},{"name":"y","label":"y","kind":"text"}]}]}`},
		{`true`, `{"open":true,"fields":[]}`},
	} {
		got, err := json.Marshal(compile(t, test.schema).Form())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(plain(t, test.want), plain(t, string(got))); diff != "" {
			t.Errorf("%s (-want +got): %s", test.schema, diff)
		}
	}
}

// TestFormOfGroupsWithinThemselves tests that the form of a recursive schema is finite.
func TestFormOfGroupsWithinThemselves(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(compile(t, `{"$defs":{"g":{"properties":{`+list(20, `"%d":{"$ref":"#/$defs/g"}`)+`}}},"$ref":"#/$defs/g"}`).Form())
	if n := strings.Count(string(text), `"kind"`); err != nil || n < 500 || n > 20_000 {
		t.Errorf("%d fields, %v", n, err)
	}
}

// plain decodes JSON, and keeps numbers as they are written.
func plain(t *testing.T, text string) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return v
}

// TestConcurrent validates with one schema in many goroutines. Each validation has its own budget
// of steps.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	s := compile(t, worst[0].schema)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			found := s.Validate(t.Context(), []byte([]string{"1", "{"}[i%2]))
			if want := []string{schemas.RuleSteps, schemas.RuleJSON}[i%2]; len(found) != 1 || found[0].Rule != want {
				t.Errorf("%+v, want %s", found, want)
			}
		})
	}
	all.Wait()
}

// FuzzSchema compiles any string, derives its form, and validates any value with it. These calls
// may return errors, but must not panic.
func FuzzSchema(f *testing.F) {
	for _, groups := range suite(f) {
		for _, g := range groups {
			f.Add([]byte(g.Schema), []byte(g.Tests[0].Data))
		}
	}
	for _, w := range worst {
		if len(w.schema)+len(w.value) < 2000 {
			f.Add([]byte(w.schema), []byte(w.value))
		}
	}
	f.Fuzz(func(t *testing.T, text, value []byte) {
		start := time.Now()
		defer func() {
			if took := time.Since(start); took > 3*most {
				t.Errorf("took %v", took)
			}
		}()
		s, err := schemas.Compile(text)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without a message")
			}
			return
		}
		if _, err := json.Marshal(s.Form()); err != nil {
			t.Error(err)
		}
		first, second := s.Validate(t.Context(), value), s.Validate(t.Context(), value)
		if diff := cmp.Diff(first, second); diff != "" && !givenUp(first) && !givenUp(second) {
			t.Error("two validations differ:", diff)
		}
		if !givenUp(first) && !slices.ContainsFunc(first, func(p schemas.Problem) bool { return p.Rule == schemas.RuleJSON }) {
			agree(t, text, value, len(first) == 0)
		}
		for _, p := range first {
			if p.Rule == "" || p.Message == "" {
				t.Errorf("%+v", p)
			}
		}
	})
}
