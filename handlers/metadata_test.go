package handlers_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"labshelf/handlers"
	"labshelf/repository"
)

// wantMetadata compares the member metadata of an object. If want is "", the member must be
// missing.
func wantMetadata(t *testing.T, what string, o object, want string) {
	t.Helper()
	var wanted any
	if want != "" {
		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			t.Fatal(err)
		}
	}
	if got, there := o["metadata"]; !reflect.DeepEqual(got, wanted) || there != (want != "") {
		t.Errorf("%s: metadata %v, want %s", what, got, want)
	}
}

// describedSpace is a dataspace with a set and a file, all with metadata.
type describedSpace struct {
	*space
	set, resource string
}

const (
	ofSpace    = `{"publisher":"Curie","tags":["space"]}`
	ofSet      = `{"creators":[{"name":"Curie, Marie","orcid":"0000-0002-1825-0097"}],"publicationYear":2026,"tags":["set"]}`
	ofResource = `{"tags":["a <&> \u2028b"],"properties":{"temperature":{"value":25,"unit":"°C"}}}`
)

func newDescribedSpace(t *testing.T, c *client) describedSpace {
	t.Helper()
	s := c.newSpace(object{"metadata": json.RawMessage(ofSpace)})
	made := s.send("POST", "/sets", object{"name": s.name("set"), "dataspaceId": s.dataspace, "metadata": json.RawMessage(ofSet)})
	set := made.want(http.StatusCreated).object()
	wantMetadata(t, "a new set", set, ofSet)
	resource := s.upload(set.text("id"), "a.txt", "content", text("metadata", ofResource))
	wantMetadata(t, "a new resource", resource, ofResource)
	return describedSpace{s, set.text("id"), resource.text("id")}
}

// paths returns the methods that change the dataspace, the set and the file, and the methods that
// change their metadata, by path.
func (s describedSpace) paths() map[string][2]string {
	return map[string][2]string{
		"/dataspaces/" + s.dataspace: {"PUT", ofSpace}, "/sets/" + s.set: {"PUT", ofSet}, "/resources/" + s.resource: {"PATCH", ofResource},
	}
}

// TestMetadata tests that a patch changes the metadata of each kind of object, and its version. A
// record from GET can be sent back.
func TestMetadata(t *testing.T) {
	t.Parallel()
	s := newDescribedSpace(t, sysadmin(t))
	for path, how := range s.paths() {
		first := s.get(path).want(http.StatusOK)
		wantMetadata(t, path, first.object(), how[1])
		again := s.send(how[0], path, first.object()).want(http.StatusOK)
		same(t, path+": sent back as it was", string(again.body), string(first.body))
		same(t, path+": its ETag", again.header.Get("ETag"), first.header.Get("ETag"))
		changed := s.send(how[0], path, object{"metadata": object{"tags": []string{"b"}, "properties": object{"x": 1, "temperature": nil}}}).want(http.StatusOK)
		if changed.header.Get("ETag") == first.header.Get("ETag") {
			t.Errorf("%s: the ETag has not changed", path)
		}
		var want object
		if err := json.Unmarshal([]byte(how[1]), &want); err != nil {
			t.Fatal(err)
		}
		want["tags"], want["properties"] = []string{"b"}, object{"x": 1}
		text, _ := json.Marshal(want)
		wantMetadata(t, path+", changed", changed.object(), string(text))
		wantMetadata(t, path+", without", s.send(how[0], path, object{"metadata": nil}).want(http.StatusOK).object(), "")
	}
	wantMetadata(t, "deleted and restored", s.deletedAndRestored(), `{"tags":["c"]}`)
}

// deletedAndRestored describes, deletes and restores the file.
func (s describedSpace) deletedAndRestored() object {
	s.t.Helper()
	path := "/resources/" + s.resource
	s.send("PATCH", path, object{"metadata": object{"tags": []string{"c"}}}).want(http.StatusOK)
	s.send("DELETE", path, nil).want(http.StatusNoContent)
	return s.send("POST", path+"/restore", nil).want(http.StatusOK).object()
}

// TestMetadataWritten tests that the metadata of a file are returned as stored, as the last member,
// with unchanged numbers.
func TestMetadataWritten(t *testing.T) {
	t.Parallel()
	s := newDescribedSpace(t, sysadmin(t))
	want := ",\n" + `  "metadata": {"tags":["a <&> ` + "\u2028" + `b"],"properties":{"temperature":{"value":2.50e1,"unit":"°C"}}}` + "\n}\n"
	number := raw{"application/json", []byte(`{"metadata":{"properties":{"temperature":{"value":2.50e1}}}}`)}
	s.send("PATCH", "/resources/"+s.resource, number).want(http.StatusOK)
	if got := string(s.get("/resources/" + s.resource).body); !strings.HasSuffix(got, want) {
		t.Errorf("%s\ndoes not end with\n%s", got, want)
	}
}

// TestMetadataListed tests that listings, and their later pages, contain metadata on request.
func TestMetadataListed(t *testing.T) {
	t.Parallel()
	s := newDescribedSpace(t, ownGateway(t, repository.Config{}, handlers.Config{}))
	s.upload(s.set, "b.txt", "content")
	for path, want := range map[string]string{
		"/dataspaces": ofSpace, "/sets": ofSet, "/dataspaces/" + s.dataspace + "/sets": ofSet, "/resources": ofResource,
		"/dataspaces/" + s.dataspace + "/resources": ofResource, "/sets/" + s.set + "/resources": ofResource,
	} {
		wantMetadata(t, path, s.get(path).data()[0], "")
		wantMetadata(t, path+", requested", s.get(path + "?fields=metadata").data()[0], want)
		for _, other := range []string{"fields=tags", "fields=metadata,name", "fields=Metadata", "fields=", "fields=metadata&fields=metadata"} {
			s.bad("GET", path+"?"+other, nil).problem(http.StatusBadRequest, "invalid_parameter", "fields")
		}
	}
	first := s.get("/sets/" + s.set + "/resources?limit=1&order=newest&fields=metadata").want(http.StatusOK).object()
	wantMetadata(t, "the second page", s.get(first.text("nextPage")).data()[0], ofResource)
	s.bad("GET", "/users?fields=metadata", nil).problem(http.StatusBadRequest, "invalid_parameter", "fields")
}

// TestMetadataRefused tests that invalid metadata are refused with the path of the field.
func TestMetadataRefused(t *testing.T) {
	t.Parallel()
	s := newDescribedSpace(t, sysadmin(t))
	for path, how := range s.paths() {
		before := s.get(path).want(http.StatusOK)
		for body, field := range map[string]string{
			`{"metadata":{"colour":"red"}}`: "metadata.colour", `{"metadata":[]}`: "metadata", `{"metadata":"x"}`: "metadata", `{"metadata":1}`: "metadata",
			`{"metadata":{"tags":[null]}}`: "metadata.tags.0", `{"metadata":{"tags":["a,b"]}}`: "metadata.tags.0",
			`{"metadata":{"properties":{"t":{"value":1e999,"unit":"K"}}}}`: "metadata.properties.t.value",
		} {
			s.bad(how[0], path, raw{"application/json", []byte(body)}).problem(http.StatusBadRequest, "invalid_field", field)
		}
		s.bad(how[0], path, raw{"application/json", []byte(`{"metadata":{"tags":[],"tags":[]}}`)}).problem(http.StatusBadRequest, "invalid_body", "metadata")
		s.bad(how[0], path, object{"description": nil}).problem(http.StatusBadRequest, "invalid_field", "description")
		same(t, path, string(s.get(path).body), string(before.body))
	}
	s.send("PATCH", "/resources/"+s.resource, object{"metadata": object{"tags": []string{"b"}}}, `If-Match: "other"`).problem(http.StatusPreconditionFailed, "precondition_failed", "")
}

// TestMetadataUploaded tests metadata in a form and in a resumable upload. A replacement merges its
// metadata.
func TestMetadataUploaded(t *testing.T) {
	t.Parallel()
	s := newDescribedSpace(t, sysadmin(t))
	path := "/resources/" + s.resource
	replaced := s.send("PUT", path, form(file("b.txt", "other"))).want(http.StatusOK).object()
	wantMetadata(t, "replaced", replaced, ofResource)
	replaced = s.send("PUT", path, form(file("b.txt", "more"), text("metadata", `{"properties":{"temperature":null},"tags":["x"]}`))).want(http.StatusOK).object()
	wantMetadata(t, "replaced with a patch", replaced, `{"tags":["x"]}`)
	s.bad("PUT", path, form(file("b.txt", "no"), text("metadata", `{"tags":"x"}`))).problem(http.StatusBadRequest, "invalid_field", "metadata.tags")
	s.bad("POST", "/resources", form(text("setId", s.set), file("b.txt", "no"), text("metadata", `nonsense`))).problem(http.StatusBadRequest, "invalid_field", "metadata")

	at := s.begin(4, "setId", s.set, "filename", "t.raw", "metadata", `{"tags":["tus"]}`)
	made := s.chunk(at, 0, "four").want(http.StatusNoContent).header.Get("Labshelf-Resource")
	wantMetadata(t, "a resumable upload", s.get(made).object(), `{"tags":["tus"]}`)
	at = s.begin(4, "resourceId", s.resource, "filename", "t.raw", "metadata", `{"properties":{"n":1}}`)
	s.chunk(at, 0, "five").want(http.StatusNoContent)
	wantMetadata(t, "a resumable replacement", s.get(path).object(), `{"tags":["x"],"properties":{"n":1}}`)
	s.bad("POST", "/uploads", nil, inTus, "Upload-Length: 4", uploadMetadata("setId", s.set, "filename", "t", "metadata", `{"publisher":"x"}`)).
		problem(http.StatusBadRequest, "invalid_field", "metadata.publisher")
	s.bad("POST", "/uploads", nil, inTus, "Upload-Length: 4", uploadMetadata("resourceId", s.resource, "filename", "t", "metadata", `{"tags":1}`)).
		problem(http.StatusBadRequest, "invalid_field", "metadata.tags")
}

// TestMetadataArchived tests that the manifest of an archive contains the metadata of the set and
// its files, and no member for missing metadata.
func TestMetadataArchived(t *testing.T) {
	t.Parallel()
	s := newDescribedSpace(t, sysadmin(t))
	plain := s.upload(s.set, "b.txt", "content").text("id")
	var manifest struct {
		Metadata any
		Files    map[string]object
	}
	if err := json.Unmarshal(s.manifest(s.set), &manifest); err != nil {
		t.Fatal(err)
	}
	wantMetadata(t, "the set", object{"metadata": manifest.Metadata}, ofSet)
	wantMetadata(t, "the file", manifest.Files[s.resource], ofResource)
	wantMetadata(t, "the other file", manifest.Files[plain], "")
	without := s.newSet()
	s.upload(without, "a.txt", "content")
	if text := s.manifest(without); bytes.Contains(text, []byte("metadata")) {
		t.Errorf("manifest of a set without metadata: %s", text)
	}
}

// manifest returns the last entry of the archive of a set.
func (s *space) manifest(set string) []byte {
	s.t.Helper()
	body := s.get("/sets/" + set + "/archive").want(http.StatusOK).body
	unzipped(s.t, body)
	reader, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		s.t.Fatal(err)
	}
	file, err := reader.File[len(reader.File)-1].Open()
	if err != nil {
		s.t.Fatal(err)
	}
	text, err := io.ReadAll(file)
	if err := errors.Join(err, file.Close()); err != nil {
		s.t.Fatal(err)
	}
	return text
}

// TestMetadataInHistory tests that an entry contains the metadata before and after the change.
func TestMetadataInHistory(t *testing.T) {
	t.Parallel()
	s := newDescribedSpace(t, sysadmin(t))
	s.send("PATCH", "/resources/"+s.resource, object{"metadata": object{"tags": []string{"b"}}}).want(http.StatusOK)
	entry := s.get("/resources/" + s.resource + "/history").data()[0]
	want := map[string]any{"metadata.tags": map[string]any{"before": `["a <&> ` + "\u2028" + `b"]`, "now": `["b"]`}}
	if !reflect.DeepEqual(entry["texts"], want) {
		t.Errorf("values %v, want %v", entry["texts"], want)
	}
	later := s.get("/resources?state=all&fields=metadata&order=newest&dataspaceId=" + s.dataspace).data()[0]
	wantMetadata(t, "harvested", later, `{"tags":["b"],"properties":{"temperature":{"value":25,"unit":"°C"}}}`)
}
