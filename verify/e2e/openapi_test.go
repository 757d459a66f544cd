package e2e

import (
	"path/filepath"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// TestOpenAPIDocument tests that kin-openapi loads the document in both formats and validates it.
func TestOpenAPIDocument(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"openapi.yaml", "openapi.json"} {
		doc, err := openapi3.NewLoader().LoadFromFile(filepath.Join("..", "..", "handlers", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := doc.Validate(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if doc.OpenAPI != "3.1.0" || doc.Paths.Len() == 0 {
			t.Errorf("%s is a document of version %q with %d paths", name, doc.OpenAPI, doc.Paths.Len())
		}
	}
}
