package handlers_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"labshelf/internal/openapitest"
)

// TestDocumentClosesBodies tests that no schema of a request body allows a field that the service
// refuses, and that a record from GET can be sent back.
func TestDocumentClosesBodies(t *testing.T) {
	t.Parallel()
	for _, operation := range suite.document.Operations {
		content := operation.Get("requestBody", "content")
		for _, kind := range content.Names() {
			schema := content.Get(kind, "schema")
			if kind != "application/json" && kind != "multipart/form-data" {
				continue
			}
			if schema.Get("additionalProperties").Value() != false {
				t.Errorf("%s: its body allows fields that the service refuses", operation.ID)
			}
			if err := schema.Validate(map[string]any{"colour": "red"}); err == nil {
				t.Errorf("%s: the document allows an unknown field", operation.ID)
			}
		}
	}
	for record, edit := range map[string]string{"Dataspace": "DataspaceUpdate", "Set": "SetUpdate", "Resource": "ResourceEdit", "User": "UserUpdate", "Webhook": "WebhookUpdate", "Schema": "SchemaUpdate"} {
		shown, may := suite.document.Schema(record).Get("properties").Names(), suite.document.Schema(edit).Get("properties").Names()
		if !slices.Equal(shown, may) {
			t.Errorf("%s has the fields %v, but %s allows %v", record, shown, edit, may)
		}
	}
	s := sysadmin(t).newSpace(nil)
	for path, method := range map[string]string{
		"/dataspaces/" + s.dataspace: "PUT", "/sets/" + s.newSet(): "PUT", "/resources/" + s.newResource(): "PATCH", "/users/" + s.newUser(nil).id: "PUT",
	} {
		s.send(method, path, s.get(path).object()).want(http.StatusOK)
	}
}

// TestDocumentForbidsCharacters tests that the document allows the same strings as the service: no
// control characters, no characters that change the direction of writing, and line breaks and tabs
// only in descriptions.
func TestDocumentForbidsCharacters(t *testing.T) {
	t.Parallel()
	breaks := []string{"\n", "\r", "\t"}
	for name, multiline := range map[string]bool{
		"Title": false, "Format": false, "Origin": false, "Fullname": false, "KeyLabel": false, "ResourceName": false, "UploadName": false,
		"Description": true, "About": true,
	} {
		schema := suite.document.Schema(name)
		for _, character := range slices.Concat(hidden, breaks) {
			taken := schema.Validate("a"+character+"b") == nil
			if want := multiline && slices.Contains(breaks, character); taken != want {
				t.Errorf("%s with %q: accepted: %v", name, character, taken)
			}
		}
		for _, fine := range []string{"a", "Grüße, 漢字 🧪", "a/b c", "\u00a0\u200d\u2028"} {
			if err := schema.Validate(fine); err != nil {
				t.Errorf("%s: %q: %v", name, fine, err)
			}
		}
	}
	edit := suite.document.Schema("ResourceEdit").Get("properties", "format")
	if edit.Validate("a\u202eb") == nil || edit.Validate("") != nil {
		t.Error("the format in ResourceEdit differs from the service")
	}
}

// TestDocumentForbidsParameters tests that the schemas of query parameters refuse and accept the
// same values as the service.
func TestDocumentForbidsParameters(t *testing.T) {
	t.Parallel()
	// A pattern cannot express the length of a month, or count bytes. The limit is a number.
	beyond := []string{"2015-02-30"}
	parameters := map[string]openapitest.Node{}
	components := suite.document.Get("components", "parameters")
	for _, component := range components.Names() {
		parameter := components.Get(component)
		if name := parameter.Get("name").Text(); parameter.Get("in").Text() == "query" && name != "limit" {
			parameters[name] = parameter.Get("schema")
		}
	}
	for name, values := range wrongParameters() {
		if !parameters[name].Exists() {
			continue
		}
		for _, value := range values {
			if utf8.ValidString(value) && !slices.Contains(beyond, value) && parameters[name].Validate(value) == nil {
				t.Errorf("the service refuses %s=%q, but the document allows it", name, value)
			}
		}
	}
	c := sysadmin(t)
	for _, instant := range []string{
		"2015", "2015-03", "2015-03-30", "2015-03-30T16:09", "2015-03-30t16:09:44", "2015-03-30T16:09:44.090Z", "2015-03-30T16:09:44.0901234567z",
		"2015-03-30T16:09+02", "2015-03-30T16:09+0200", "2015-03-30T16:09:44-02:00", "2015-03-30T16:09:44 02:00",
	} {
		for _, name := range []string{"since", "until"} {
			if err := parameters[name].Validate(instant); err != nil {
				t.Errorf("%s=%s: %v", name, instant, err)
			}
			c.get(fmt.Sprintf("/resources?%s=%s", name, strings.NewReplacer("+", "%2B", " ", "+").Replace(instant))).want(http.StatusOK)
		}
	}
	expires := suite.document.Schema("KeyCreation").Get("properties", "expires")
	for value, fine := range map[string]bool{"2127-01-01": true, "2127": true, "tomorrow": false, "": false} {
		if taken := expires.Validate(value) == nil; taken != fine {
			t.Errorf("expires %q: accepted: %v", value, taken)
		}
	}
}
