package descriptive_test

import (
	"strings"
	"testing"

	"labshelf/formats/descriptive"
)

// TestReadQuantities tests that new values are converted or rejected. Values stored under older
// rules are kept.
func TestReadQuantities(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ before, now, want string }{
		{`{}`, `{"T":{"value":"20,5","unit":"°C"}}`, `{"T":{"value":20.5,"unit":"°C"}}`},
		{`{}`, `{"T":{"value":"1.234,5","unit":"samples"}}`, `{"T":{"value":1234.5,"unit":"samples"}}`},
		{`{}`, `{"a":[{"b":{"value":"−5","unit":"K"}},"20,5 °C"]}`, `{"a":[{"b":{"value":-5,"unit":"K"}},"20,5 °C"]}`},
		{`{}`, `{"T":{"value":"high","unit":"°C"}}`, `{"T":{"unit":"°C","value":"high"}}`},
		{`{}`, `{"T":{"value":"5-7","unit":"mm"}}`, `{"T":{"unit":"mm","value":"5-7"}}`},
		{`{}`, `{"T":{"value":"20","unit":"K","by":"Ada"}}`, `{"T":{"by":"Ada","unit":"K","value":"20"}}`},
		{`{}`, `{"T":{"value":20,"unit":"zork"}}`, `{"T":{"value":20,"unit":"zork"}}`},
		{`{}`, `{"T":{"value":20,"unit":",5 °C"}}`, `metadata.properties.T.unit must be a unit; after the number 20, ",5 °C" looks like the rest of a number`},
		{`{}`, `{"T":{"value":"12","unit":"h30"}}`, `metadata.properties.T.unit must be a unit; after the number 12, "h30" looks like the rest of a number`},
		{`{}`, `{"T":{"value":5,"unit":"/2"}}`, `metadata.properties.T.unit must be a unit`},
		{`{}`, `{"g":[1,{"T":{"value":"1,234","unit":"mm"}}]}`, `metadata.properties.g.1.T.value must be a number; the number 1,234 can be read in two ways`},
		{`{"T":{"value":20,"unit":",5 °C"},"U":{"value":"1,234","unit":"mm"}}`, `{"T":{"value":20,"unit":",5 °C"},"U":{"value":"1,234","unit":"mm"},"n":1}`, `{"T":{"value":20,"unit":",5 °C"},"U":{"unit":"mm","value":"1,234"},"n":1}`},
		{`{"l":[{"value":20,"unit":",5 °C"}]}`, `{"l":[1,{"value":20,"unit":",5 °C"}]}`, `{"l":[1,{"value":20,"unit":",5 °C"}]}`},
		{`{"g":{"T":{"value":20,"unit":",5 °C"}}}`, `{"g":{"T":{"value":20,"unit":",5 °C"},"U":{"value":"1,5","unit":"K"}}}`, `{"g":{"T":{"value":20,"unit":",5 °C"},"U":{"value":1.5,"unit":"K"}}}`},
		{`{"T":{"value":20,"unit":",5 °C"}}`, `{"T":{"value":21,"unit":",5 °C"}}`, `metadata.properties.T.unit must be a unit`},
	} {
		m, before := parsed(t, test.now), parsed(t, test.before)
		err := m.ReadQuantities(before)
		got := strings.TrimSuffix(strings.TrimPrefix(string(m.Append(nil)), `{"properties":`), "}")
		if err != nil {
			got = err.Error()
		}
		if got != test.want && (err == nil || !strings.HasPrefix(got, test.want)) {
			t.Errorf("%s after %s: %s, want %s", test.now, test.before, got, test.want)
		}
	}
}

func parsed(t *testing.T, properties string) descriptive.Metadata {
	t.Helper()
	m, err := descriptive.Parse([]byte(`{"properties":` + properties + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return m
}
