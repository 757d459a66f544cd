package schemas_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"labshelf/formats/schemas"
)

// group is a schema of the JSON-Schema-Test-Suite with values.
type group struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// refused contains the number of groups whose schema Compile rejects, by file and violated rule.
var refused = map[string]map[string]int{
	"refRemote.json":  {"reference": 15}, // to other documents
	"dynamicRef.json": {"reference": 5},  // to other documents
	"vocabulary.json": {"$schema": 2},    // another metaschema
}

// differing is the number of tests with another verdict, by file.
var differing = map[string]int{
	"format.json": 16, // formats are only annotations in the suite, but this package checks them

	"optional/format/hostname.json":         23, // xn-- is not decoded
	"optional/format/idn-email.json":        2,  // not checked
	"optional/format/idn-hostname.json":     54, // not checked
	"optional/format/uri-template.json":     13, // not checked
	"optional/format/ecmascript-regex.json": 9,  // Go's regular expressions
	"optional/format/iri.json":              1,  // an address of a future version
}

// TestSuite compares the verdicts with the required tests of the JSON-Schema-Test-Suite and its
// tests of formats.
func TestSuite(t *testing.T) {
	t.Parallel()
	gotRefused, gotDiffering := map[string]map[string]int{}, map[string]int{}
	verdicts := 0
	for name, groups := range suite(t) {
		for _, g := range groups {
			s, err := schemas.Compile(g.Schema)
			var wrong *schemas.Error
			if errors.As(err, &wrong) {
				if gotRefused[name] == nil {
					gotRefused[name] = map[string]int{}
				}
				gotRefused[name][wrong.Rule]++
				if wrong.Rule == "reference" && !strings.Contains(wrong.Message, "http://localhost:1234/") {
					t.Errorf("%s: %s: %v", name, g.Description, err)
				}
				continue
			}
			for _, test := range g.Tests {
				verdicts++
				found := s.Validate(t.Context(), test.Data)
				if (len(found) == 0) == test.Valid {
					continue
				}
				gotDiffering[name]++
				if differing[name] == 0 {
					t.Errorf("%s: %s: %s: %+v, want valid %t\n%s\n%s", name, g.Description, test.Description, found, test.Valid, g.Schema, test.Data)
				}
			}
		}
	}
	if diff := cmp.Diff(refused, gotRefused); diff != "" {
		t.Error("refused schemas (-want +got):", diff)
	}
	if diff := cmp.Diff(differing, gotDiffering); diff != "" {
		t.Error("differing verdicts (-want +got):", diff)
	}
	t.Logf("%d verdicts, of which differ as expected: %v", verdicts, maps.Collect(maps.All(gotDiffering)))
}

// suite reads testdata/suite.json.gz. It returns the tests by the name of their file; see
// testdata/README.md.
func suite(t testing.TB) map[string][]group {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "suite.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // only read
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string][]group
	if err := json.NewDecoder(z).Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all
}
