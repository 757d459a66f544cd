package handlers_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"labshelf/handlers"
	"labshelf/repository"
)

// TestSchemasOfDataspace creates, reads and changes a schema, sends it back unchanged, and enforces
// it for a file and a set.
func TestSchemasOfDataspace(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	file := "/resources/" + s.upload(set, "a.csv", "x,y").text("id")
	bare := s.get(file + "/schema").want(http.StatusOK)
	same(t, "without a schema", strings.Join(strings.Fields(string(bare.body)), ""), `{"incomplete":false,"problems":[]}`)
	made := s.newSchema(object{"name": "runs", "types": []string{"CSV"}, "enforce": true, "title": "<Runs>"})
	path := "/schemas/" + made.text("id")
	same(t, "types", made["types"].([]any)[0].(string), "csv")
	sent := s.send("PUT", path, made).want(http.StatusOK).object()
	same(t, "modified, sent back", sent.text("modified"), made.text("modified"))
	s.bad("PUT", path, object{"form": object{}}).problem(http.StatusConflict, "read_only_field", "form")
	wrong := s.send("PUT", path, object{"schema": object{"properties": object{"a": object{"minimum": "1"}}}}).problem(http.StatusBadRequest, "invalid_field", "schema")
	if detail := wrong.object().text("detail"); !strings.Contains(detail, "/properties/a/minimum") {
		t.Errorf("the refusal does not name the field: %s", detail)
	}
	of := s.get(file + "/schema").object()
	same(t, "incomplete", of["incomplete"].(bool), true)
	same(t, "applied", of["schema"].(map[string]any)["name"].(string), "runs")
	same(t, "path", of["problems"].([]any)[0].(map[string]any)["path"].(string), "/sample")
	s.send("PATCH", file, object{"metadata": object{"properties": object{"x": 1}}}).problem(http.StatusBadRequest, "invalid_field", "metadata.properties.sample")
	s.send("PATCH", file, object{"metadata": object{"properties": object{"sample": "S1"}}}).want(http.StatusOK)
	pinned := s.get(file).object()["metadata"].(map[string]any)["schema"].(map[string]any)
	same(t, "pinned", pinned["id"].(string), made.text("id"))
	same(t, "complete", s.get(file + "/schema").object()["incomplete"].(bool), false)
	s.newUser(nil).bad("PUT", path, object{"form": object{}}).problem(http.StatusForbidden, "forbidden", "")
	s.bad("PUT", "/schemas/nonsense", object{"form": object{}}).problem(http.StatusNotFound, "schema_not_found", "")
	second := s.send("PUT", path, object{"schema": object{"required": []string{"operator"}}}).want(http.StatusOK).object()
	same(t, "version", second["version"].(float64), 2)
	of = s.get(file + "/schema").object()
	same(t, "newest", of["newest"].(float64), 2)
	same(t, "made with", of["schema"].(map[string]any)["version"].(float64), 1)
	s.send("PATCH", file, object{"metadata": object{"schema": object{"version": 2}}}).problem(http.StatusBadRequest, "invalid_field", "metadata.properties.operator")
	s.send("PATCH", file, object{"metadata": object{"schema": object{"version": 3}}}).problem(http.StatusBadRequest, "invalid_field", "metadata.schema")
	same(t, "versions", len(s.get(path + "/versions").object()["data"].([]any)), 2)
	s.get(path+"/versions/3").problem(http.StatusNotFound, "version_not_found", "")
	s.get(path, "If-None-Match: "+s.get(path).header.Get("ETag")).want(http.StatusNotModified)
	s.send("DELETE", path, nil, `If-Match: "another"`).problem(http.StatusPreconditionFailed, "precondition_failed", "")
	s.send("DELETE", path, nil).want(http.StatusNoContent)
	same(t, "state", s.get(path).object().text("state"), "deleted")
	same(t, "set", s.get("/sets/" + set + "/schema").object()["incomplete"].(bool), false)
	s.send("PATCH", file, object{"metadata": s.get(file).object()["metadata"]}).want(http.StatusOK)
	s.newSchema(object{"name": "runs"})
	s.send("POST", path+"/restore", nil).problem(http.StatusConflict, "schema_name_taken", "name")
}

// TestSchemaVersionIsExported tests that listings, archives and history contain the version of the
// schema, and that a repository without the schema accepts such data.
func TestSchemaVersionIsExported(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	id := s.upload(set, "a.csv", "x,y").text("id")
	schema := s.newSchema(object{"name": "runs"}).text("id")
	said := s.send("PATCH", "/resources/"+id, object{"metadata": object{"properties": object{"sample": "S1"}}}).want(http.StatusOK).object()["metadata"]
	pinned := `"schema":{"id":"` + schema + `","version":1}`
	compact := func(a *answer) string { return strings.Join(strings.Fields(string(a.want(http.StatusOK).body)), "") }
	for _, path := range []string{"/sets/" + set + "/resources?fields=metadata", "/resources/" + id, "/resources/" + id + "/history"} {
		if got := strings.ReplaceAll(compact(s.get(path)), `\"`, `"`); !strings.Contains(got, pinned[len(`"schema":`):]) {
			t.Errorf("%s has no %s: %s", path, pinned, got)
		}
	}
	archived := s.get("/sets/" + set + "/archive").want(http.StatusOK).body
	reader, err := zip.NewReader(bytes.NewReader(archived), int64(len(archived)))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := fs.ReadFile(reader, "manifest.json")
	if got := strings.Join(strings.Fields(string(manifest)), ""); !strings.Contains(got, pinned) {
		t.Errorf("the manifest of the archive has no %s: %s, %v", pinned, got, err)
	}
	sent, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := ownGateway(t, repository.Config{}, handlers.Config{}).newSpace(nil)
	made := elsewhere.send("POST", "/resources", form(text("setId", elsewhere.newSet()), text("metadata", string(sent)), file("a.csv", "x,y"))).want(http.StatusCreated).object()
	kept := made["metadata"].(map[string]any)
	if _, has := kept["schema"]; has || kept["properties"].(map[string]any)["sample"] != "S1" {
		t.Errorf("elsewhere it is %v", kept)
	}
	elsewhere.send("POST", "/sets", object{"name": elsewhere.name("set"), "dataspaceId": elsewhere.dataspace, "metadata": said}).want(http.StatusCreated)
}
