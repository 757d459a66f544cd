package schemas_test

import (
	"testing"

	"labshelf/formats/schemas"
)

// documents are typical pairs of a schema and a value.
func documents(b *testing.B) []struct{ name, schema, value string } {
	const steps = `{"what":"milled","minutes":5}`
	return []struct{ name, schema, value string }{
		{"valid", five(b), `{"sample":"S-0042","temperature":{"value":20,"unit":"°C"},"method":"xrd","measured":"2026-01-31","steps":[` + steps + `]}`},
		{"invalid", five(b), `{"sample":"42","measured":"31.1.2026","temperature":{"value":"20","unit":"F"},"method":"nmr","steps":[{}]}`},
		{"long", five(b), `{"sample":"S-0042","measured":"2026-01-31","steps":[` + repeat(steps, 1000, ",") + `]}`},
		{"metaschema", `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, five(b)},
	}
}

// BenchmarkValidate validates documents, with this package and with the library of the tests.
func BenchmarkValidate(b *testing.B) {
	for _, d := range documents(b) {
		b.Run(d.name, func(b *testing.B) {
			s := compile(b, d.schema)
			for b.Loop() {
				s.Validate(b.Context(), []byte(d.value))
			}
		})
		b.Run(d.name+"/library", func(b *testing.B) {
			s, err := consult([]byte(d.schema))
			for err == nil && b.Loop() {
				_, err = s.validate([]byte(d.value))
			}
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkCompile compiles a schema, with this package and with the library.
func BenchmarkCompile(b *testing.B) {
	text := []byte(five(b))
	b.Run("here", func(b *testing.B) {
		for b.Loop() {
			if _, err := schemas.Compile(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			if _, err := consult(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
