package handlers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"labshelf/auth/errs"
	"labshelf/handlers"
	"labshelf/internal/openapitest"
)

// TestOperations tests that the routes and the document have the same operations. A listing has a
// separate operation for its further pages.
func TestOperations(t *testing.T) {
	t.Parallel()
	var served, documented []string
	for _, route := range handlers.Routes() {
		served = append(served, route.Method+" "+route.Path)
	}
	for _, route := range suite.document.Operations {
		documented = append(documented, route.Method+" "+route.Path)
		if route.ID == "" || !route.Get("responses", "default").Exists() {
			t.Errorf("%s %s lacks an id or a default answer", route.Method, route.Path)
		}
	}
	slices.Sort(served)
	slices.Sort(documented)
	if diff := cmp.Diff(documented, served); diff != "" {
		t.Errorf("(-documented +served)\n%s", diff)
	}
	ids := suite.operationIDs()
	same(t, "operations with an id of their own", len(ids), len(documented))
}

// tableCodes returns the first column of the table of codes in a Markdown document, in order.
func tableCodes(text string) (codes []errs.Code, statuses map[errs.Code]string) {
	statuses = map[errs.Code]string{}
	for _, row := range regexp.MustCompile("(?m)^ *\\| `([a-z_]+)` \\| ([0-9, ]+) \\|").FindAllStringSubmatch(text, -1) {
		codes = append(codes, errs.Code(row[1]))
		statuses[errs.Code(row[1])] = row[2]
	}
	return codes, statuses
}

// TestCodes tests that the code, the document and docs/reference/errors.md list the same codes with
// the same statuses.
func TestCodes(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "reference", "errors.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(slices.Values(errs.Codes()))
	description := suite.document.Schema("Problem").Get("properties", "code", "description").Text()
	_, documented := tableCodes(description)
	for name, text := range map[string]string{"openapi.yaml": description, "docs/reference/errors.md": string(page)} {
		codes, statuses := tableCodes(text)
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(codes))); diff != "" {
			t.Errorf("%s lists different codes (-code +text)\n%s", name, diff)
		}
		if diff := cmp.Diff(documented, statuses); diff != "" {
			t.Errorf("%s has different statuses from openapi.yaml\n%s", name, diff)
		}
	}
}

// TestSchemas tests that the objects list every member that is always sent as required, and allow
// no other members.
func TestSchemas(t *testing.T) {
	t.Parallel()
	optional := map[string][]string{
		"Dataspace": {"metadata", "quota"}, "DataspaceUsage": {"quota"}, "Set": {"metadata"}, "Resource": {"purged", "damaged", "movedTo", "linkId", "metadata"}, "Link": {"lastUsed"}, "NewLink": {"lastUsed"}, "Upload": {"setId", "resourceId", "resourceUrl"}, "User": {"sysadmin", "quota"}, "Key": {"expires", "lastUsed", "madeWith", "dataspaceId", "setId", "networks"}, "NewKey": {"expires", "lastUsed", "madeWith", "dataspaceId", "setId", "networks"}, "Problem": {"field"}, "Status": {"detail"},
	}
	for _, name := range []string{"Dataspace", "Set", "Resource", "Upload", "User", "Key", "NewKey", "Privilege", "SignIn", "Session", "Usage", "DataspaceUsage", "Status", "StatusDetail", "Purge", "Problem", "End"} {
		schema := suite.document.Schema(name)
		if schema.Get("additionalProperties").Value() != false {
			t.Errorf("%s allows other members", name)
		}
		for _, property := range schema.Get("properties").Names() {
			if slices.Contains(schema.Get("required").Strings(), property) == slices.Contains(optional[name], property) {
				t.Errorf("%s: %s must be either required or listed as optional", name, property)
			}
		}
	}
	for _, name := range suite.document.Get("components", "schemas").Names() {
		if strings.HasSuffix(name, "Page") && name != "NextPage" && name != "CurrentPage" && len(suite.document.Schema(name).Get("oneOf").Items()) != 2 {
			t.Errorf("%s is not one of two forms", name)
		}
	}
}

// TestDocumentServed tests that the served documents equal the files in the tree, and that both
// formats have the same content.
func TestDocumentServed(t *testing.T) {
	t.Parallel()
	c := sysadmin(t).withKey("")
	for name, contentType := range map[string]string{"openapi.json": "application/json", "openapi.yaml": "application/yaml"} {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got := c.get("/" + name).want(http.StatusOK)
		same(t, name+" is as in the tree", bytes.Equal(got.body, want), true)
		same(t, "Content-Type", got.header.Get("Content-Type"), contentType)
		c.send("HEAD", "/"+name, nil).want(http.StatusOK)
	}
	dir := t.TempDir()
	made := map[string]string{"openapi.json": filepath.Join(dir, "openapi.json"), "../web/src/api/wire.ts": filepath.Join(dir, "wire.ts")}
	out, err := exec.Command("go", "run", "./internal/openapigen", "openapi.yaml", made["openapi.json"], made["../web/src/api/wire.ts"]).CombinedOutput()
	if err != nil {
		t.Fatalf("openapigen: %v\n%s", err, out)
	}
	for name, path := range made {
		fresh, err := os.ReadFile(path)
		committed, err2 := os.ReadFile(name)
		if err != nil || err2 != nil || !bytes.Equal(fresh, committed) {
			t.Errorf("%s is not the output of go generate for openapi.yaml (%v, %v)", name, err, err2)
		}
	}
}

// TestExamples tests that the examples in the schemas are valid.
func TestExamples(t *testing.T) {
	t.Parallel()
	for _, name := range suite.document.Get("components", "schemas").Names() {
		schema := suite.document.Schema(name)
		checkExamples(t, name, schema)
		properties := schema.Get("properties")
		for _, property := range properties.Names() {
			checkExamples(t, name+"."+property, properties.Get(property))
		}
	}
}

func checkExamples(t *testing.T, name string, schema openapitest.Node) {
	t.Helper()
	for _, example := range schema.Get("examples").Items() {
		if err := schema.Validate(example.Value()); err != nil {
			t.Errorf("%s: %v: %v", name, example.Value(), err)
		}
	}
}

// TestProblem tests the body of a problem.
func TestProblem(t *testing.T) {
	t.Parallel()
	c := sysadmin(t)
	a := c.get("/dataspaces/nonsense")
	want := fmt.Sprintf(`{
  "type": "about:blank",
  "title": "Not Found",
  "status": 404,
  "detail": "there is no dataspace with this id",
  "code": "dataspace_not_found",
  "requestId": %q
}
`, a.header.Get("X-Request-Id"))
	same(t, "the body", string(a.body), want)
	a = c.bad("GET", "/sets?%3Cstate%3E=1", nil).problem(http.StatusBadRequest, "invalid_parameter", "<state>")
	same(t, "the order of the members", strings.Join(members(a.body), " "), "type title status detail code field requestId")
}

// members returns the members of a JSON object in their order.
func members(body []byte) (names []string) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	_, _ = decoder.Token() // the brace; for a broken body, members returns other names
	for decoder.More() {
		name, _ := decoder.Token()
		names = append(names, fmt.Sprint(name))
		var skipped any
		if decoder.Decode(&skipped) != nil {
			break
		}
	}
	return names
}
