package handlers_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"path"
	"strings"
	"testing"

	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/handlers"
	"labshelf/internal/openapitest"
	"labshelf/metadata"
)

// operation is one operation of the HTTP API, with a valid request for it.
type operation struct {
	id   string
	self bool // {id} is the caller, or an upload of the caller
	body func(f *fixture) any
}

func (op operation) who() handlers.Audience {
	documented := routeOf(op.id)
	for _, route := range handlers.Routes() {
		if route.Method == documented.Method && route.Path == documented.Path {
			return route.Audience
		}
	}
	return handlers.Audience{Callers: "none: there is no such route"}
}

// allow returns the callers that may use the operation.
func (op operation) allow() string {
	who := op.who()
	if op.self && (who.Word == "oneself" || who.Word == "senders") {
		return handlers.Keyed
	}
	return who.Callers
}

// refusal returns the answer for a caller with a key but without permission.
func (op operation) refusal() (status int, code errs.Code) {
	if op.who().Word == "senders" {
		return http.StatusNotFound, errs.CodeUploadNotFound
	}
	return http.StatusForbidden, errs.CodeForbidden
}

// someOperations returns all operations, or with -short a random third of them. It is for tests
// whose operations do not affect each other.
func someOperations() (some []operation) {
	all := operations()
	if !testing.Short() {
		return all
	}
	for i := rand.IntN(3); i < len(all); i += 3 {
		some = append(some, all[i])
	}
	return some
}

// operations returns every operation of the HTTP API. Each may depend on the earlier ones: an
// operation that restores an object follows the one that deletes it.
func operations() []operation {
	fields := func(o object) func(*fixture) any { return func(*fixture) any { return o } }
	nothing := raw{"application/offset+octet-stream", nil}
	tus := func(body raw, headers ...string) func(*fixture) any {
		return func(*fixture) any { return headed{body, append(headers, inTus)} }
	}
	chunk, override := tus(nothing, "Upload-Offset: 0"), tus(nothing, "Upload-Offset: 0", "X-HTTP-Method-Override: PATCH")
	return []operation{
		{"getStatus", false, nil},
		{"getOpenAPIJSON", false, nil},
		{"getOpenAPIYAML", false, nil},
		{"signIn", false, func(f *fixture) any { return object{"key": f.key} }},
		{"signOut", false, nil},

		{"listDataspaces", false, nil},
		{"pageDataspaces", false, nil},
		{"listSets", false, nil},
		{"pageSets", false, nil},
		{"listResources", false, nil},
		{"pageResources", false, nil},
		{"listUsers", false, nil},
		{"pageUsers", false, nil},
		{"listPrivileges", false, nil},
		{"pagePrivileges", false, nil},
		{"getUsage", false, nil},
		{"getUser", false, nil},

		{"getDataspace", false, nil},
		{"listDataspaceSets", false, nil},
		{"pageDataspaceSets", false, nil},
		{"listDataspaceResources", false, nil},
		{"pageDataspaceResources", false, nil},
		{"getDataspaceUsage", false, nil},
		{"getSet", false, nil},
		{"downloadArchive", false, nil},
		{"listSetResources", false, nil},
		{"pageSetResources", false, nil},
		{"exportMetadata", false, nil},
		{"getEdits", false, nil},
		{"getEdit", false, nil},
		{"getResource", false, nil},
		{"downloadResource", false, nil},
		{"listDataspaceHistory", false, nil},
		{"pageDataspaceHistory", false, nil},
		{"listSetHistory", false, nil},
		{"pageSetHistory", false, nil},
		{"listResourceHistory", false, nil},
		{"pageResourceHistory", false, nil},
		{"listVersions", false, nil},
		{"pageVersions", false, nil},
		{"getVersion", false, nil},
		{"downloadVersion", false, nil},
		{"getPrivilege", false, nil},

		{"createSet", false, func(f *fixture) any { return object{"name": f.name("set"), "dataspaceId": f.dataspace} }},
		{"updateSet", false, fields(object{"title": "New"})},
		{"createResource", false, func(f *fixture) any { return form(text("setId", f.ids["SetId"]), file("new", "new")) }},
		{"replaceResource", false, func(*fixture) any { return form(file("new", "new")) }},
		{"editResource", false, fields(object{"description": "New"})},
		{"editMetadata", false, func(f *fixture) any {
			return object{"ids": []string{f.ids["ResourceId"]}, "addTags": []string{f.name("tag")}}
		}},
		{"undoEdit", false, nil},
		{"labelVersion", false, fields(object{"label": "New"})},
		{"restoreVersion", false, nil},
		{"eraseVersion", false, nil},
		{"beginUpload", false, func(f *fixture) any {
			return headed{raw{}, []string{inTus, "Upload-Length: 7", uploadMetadata("setId", f.ids["SetId"], "filename", "new")}}
		}},
		{"getUpload", false, tus(raw{})},
		{"continueUpload", false, chunk},
		{"overrideUpload", false, override},
		{"endUpload", false, tus(raw{})},
		{"getFolder", false, nil},
		{"outlineSetResources", false, nil},
		{"createFolder", false, func(f *fixture) any { return object{"path": f.name("folder") + "/"} }},
		{"copyFolder", false, func(f *fixture) any { return object{"path": "folder/", "toPath": f.name("copy") + "/"} }},
		{"moveFolder", false, fields(object{"path": "folder/", "toPath": "moved/"})},
		{"deleteFolder", false, fields(object{"path": "gone/"})},
		{"restoreFolder", false, fields(object{"path": "gone/", "createdFolders": []string{"gone/"}})},
		{"changeMany", false, func(f *fixture) any {
			return object{"action": "move", "ids": []string{f.ids["ResourceId"]}, "folder": "many/"}
		}},
		{"copyResource", false, fields(object{"name": "copy"})},
		{"moveResource", false, fields(object{"name": "moved"})},
		{"deleteResource", false, nil},
		{"restoreResource", false, nil},
		{"deleteSet", false, nil},
		{"restoreSet", false, nil},

		{"updateDataspace", false, fields(object{"title": "New"})},
		{"grantPrivilege", false, func(f *fixture) any {
			return object{"userId": f.ids["UserId"], "dataspaceId": f.dataspace, "role": "editor"}
		}},
		{"revokePrivilege", false, nil},
		{"getSchemas", false, nil},
		{"createSchema", false, func(f *fixture) any {
			return object{"name": f.name("schema"), "schema": object{"required": []string{"sample"}}, "types": []string{"text/csv"}}
		}},
		{"getSchema", false, nil},
		{"updateSchema", false, fields(object{"title": "New"})},
		{"getSchemaVersions", false, nil},
		{"getSchemaVersion", false, nil},
		{"getSetSchema", false, nil},
		{"getResourceSchema", false, nil},
		{"deleteSchema", false, nil},
		{"restoreSchema", false, nil},
		{"getWebhooks", false, nil},
		{"listLinks", false, nil},
		{"pageLinks", false, nil},
		{"createLink", false, func(f *fixture) any { return object{"kind": "share", "setId": f.ids["SetId"]} }},
		{"getLink", false, nil},
		{"updateLink", false, fields(object{"label": "New"})},
		{"takeLink", false, nil},
		{"endLinkUploads", false, nil},
		{"revokeLink", false, nil},
		{"createWebhook", false, func(f *fixture) any {
			return object{"url": nowhere, "dataspaceId": f.dataspace, "events": []string{"user.restore"}}
		}},
		{"getWebhook", false, nil},
		{"updateWebhook", false, fields(object{"label": "New"})},
		{"rotateWebhook", false, nil},
		{"resumeWebhook", false, nil},
		{"getDeliveries", false, nil},
		{"repeatDelivery", false, nil},
		{"skipWebhook", false, fields(object{"all": false})},
		{"deleteWebhook", false, nil},
		{"deleteDataspace", false, nil},
		{"restoreDataspace", false, nil},

		{"createDataspace", false, func(f *fixture) any { return object{"name": f.name("space")} }},
		{"createUser", false, func(f *fixture) any { return object{"username": f.name("user")} }},
		{"updateUser", false, fields(object{"about": "New"})},
		{"getUserUsage", false, nil},
		{"listUserKeys", false, nil},
		{"pageUserKeys", false, nil},
		{"createUserKey", false, fields(object{"label": "New"})},
		{"getKeyDependents", false, nil},
		{"getUserKey", false, nil},
		{"updateUserKey", false, fields(object{"label": "Newer"})},
		{"revokeUserKey", false, nil},
		{"deleteUser", false, nil},
		{"restoreUser", false, nil},

		{"followEvents", false, nil},
		{"search", false, nil},
		{"pageSearch", false, nil},
		{"getIndex", false, nil},
		{"rebuildIndex", false, nil},
		{"listAudit", false, nil},
		{"pageAudit", false, nil},
		{"getAuditHead", false, nil},
		{"getAuditProof", false, nil},
		{"exportAudit", false, nil},
		{"eraseAuditTexts", false, nil},
		{"getSnapshot", false, nil},
		{"getBlob", false, nil},
		{"check", false, fields(object{"noData": true})},
		{"purge", false, fields(object{"olderThan": "90d"})},

		{"getUser", true, nil},
		{"updateUser", true, fields(object{"fullname": "New"})},
		{"getUserUsage", true, nil},
		{"listUserKeys", true, nil},
		{"pageUserKeys", true, nil},
		{"createUserKey", true, fields(object{"label": "New"})},
		{"getKeyDependents", true, nil},
		{"getUserKey", true, nil},
		{"updateUserKey", true, fields(object{"label": "Newer"})},
		{"revokeUserKey", true, nil},

		{"getUpload", true, tus(raw{})},
		{"continueUpload", true, chunk},
		{"overrideUpload", true, override},
		{"endUpload", true, tus(raw{})},
	}
}

// fixture contains one object of every kind. ids are keyed by the names of the document's
// parameters.
type fixture struct {
	*space
	ids map[string]string
}

// newFixture creates the objects. Its user has a role and a key.
func (c *client) newFixture(fields object) *fixture {
	c.t.Helper()
	f := &fixture{space: c.newSpace(fields)}
	user, set := f.newMember("member"), f.newSet()
	resource := f.upload(set, "a.txt", "before").text("id")
	f.send("PUT", "/resources/"+resource, form(file("a.txt", "content"))).want(http.StatusOK)
	f.ids = map[string]string{
		"DataspaceId": f.dataspace, "SetId": set, "ResourceId": resource, "UserId": user.id,
		"BlobDigest": sha256Hex("content"), "VersionNumber": "1",
		"KeyId":       user.get("/users/me/keys").data()[0].text("id"),
		"PrivilegeId": user.get("/privileges?userId=me").data()[0].text("id"),
		"UploadId":    path.Base(f.begin(7, "setId", set, "filename", "b.txt")),
		"LinkId":      f.send("POST", "/links", object{"kind": "share", "setId": set}).want(http.StatusCreated).object().text("id"),
		"WebhookId":   f.newWebhook(), "DeliveryNumber": "0",
		"SchemaId": f.newSchema(object{"name": f.name("schema")}).text("id"), "SchemaNumber": "1",
	}
	f.ids["EditId"] = f.newEdit(set)
	for _, path := range []string{"folder/", "gone/"} {
		f.send("POST", "/sets/"+set+"/folder", object{"path": path}).want(http.StatusCreated)
	}
	f.ids["EntryNumber"] = fmt.Sprint(int(f.get("/resources/" + resource + "/history?limit=1").data()[0]["number"].(float64)))
	return f
}

// nowhere is a URL without a listener.
const nowhere = "http://127.0.0.1:1/"

// newSchema creates a schema that requires a sample.
func (s *space) newSchema(fields object) object {
	s.t.Helper()
	all := object{"schema": object{"type": "object", "required": []string{"sample"}, "properties": object{"sample": object{"type": "string"}}}}
	maps.Copy(all, fields)
	return s.send("POST", "/dataspaces/"+s.dataspace+"/schemas", all).want(http.StatusCreated).object()
}

// newEdit creates a bulk edit of a set without changes.
func (f *fixture) newEdit(set string) string {
	f.t.Helper()
	of, _ := metadata.ParseID(set)
	edit := metadata.BulkEdit{SetID: of, Kind: metadata.EditOfMany}
	err := f.meta.Update(f.t.Context(), func(tx *metadata.Tx) error {
		edit.Created = tx.Stamp()
		edit.ID = metadata.NewID(edit.Created)
		entry := audit.Entry{Action: audit.EditBegin, Stamp: int64(edit.Created), Object: audit.Object{Kind: audit.Edit, ID: edit.ID}, Set: of}
		number, err := tx.Log(entry, "", "")
		edit.Entry = number
		return errors.Join(err, tx.Edits.Put(edit))
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return edit.ID.String()
}

// newWebhook creates a webhook that receives no events, with a delivery that waits for its next
// attempt.
func (f *fixture) newWebhook() (id string) {
	f.t.Helper()
	id = f.send("POST", "/webhooks", object{"url": nowhere, "dataspaceId": f.dataspace, "events": []string{"user.restore"}}).want(http.StatusCreated).object().text("id")
	err := f.meta.Update(f.t.Context(), func(tx *metadata.Tx) error {
		of, _ := metadata.ParseID(id)
		hook, err := tx.Webhooks.Get(of)
		return errors.Join(err, tx.Deliveries.Put(metadata.Delivery{
			WebhookID: hook.ID, Entry: hook.Position, MessageID: fmt.Sprintf("%s.%d", hook.Epoch, hook.Position), Event: "webhook.create",
			Tries: 1, First: 1, Last: 1, Error: "no answer",
		}))
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return id
}

// filed makes the file of the fixture a blob immediately, by uploading it in chunks. A small upload
// would be inline first.
func (f *fixture) filed() {
	f.t.Helper()
	f.send("POST", "/uploads", raw{"application/offset+octet-stream", []byte("content")}, inTus, "Upload-Length: 7",
		uploadMetadata("setId", f.ids["SetId"], "filename", "filed.txt")).want(http.StatusCreated)
}

// uploadOf starts an upload as a caller, in a set where the caller may upload.
func (f *fixture) uploadOf(caller *client) (id string) {
	f.t.Helper()
	own := f.newSpace(nil)
	own.send("POST", "/privileges", object{"userId": caller.id, "dataspaceId": own.dataspace, "role": "editor"}).want(http.StatusCreated)
	return path.Base(caller.begin(7, "setId", own.newSet(), "filename", "own.txt"))
}

// routeOf returns an operation of the document.
func routeOf(id string) *openapitest.Operation {
	return suite.document.Operation(id)
}

// path returns the path of an operation. For a further page it requests the listing first, to get a
// token.
func (f *fixture) path(route *openapitest.Operation, ids map[string]string) string {
	f.t.Helper()
	filled := route.Path
	for _, parameter := range route.PathParameters {
		if id, ok := ids[parameter.Component]; ok {
			filled = strings.Replace(filled, "{"+parameter.Name+"}", id, 1)
		}
	}
	listing, isPage := strings.CutSuffix(filled, "/query/results/{token}")
	if !isPage {
		return filled
	}
	return strings.TrimPrefix(f.get(listing).want(http.StatusOK).object().text("currentPage"), f.base)
}

// try sends a valid request for the operation as a caller.
func (f *fixture) try(caller *client, op operation) *answer {
	f.t.Helper()
	return caller.send(f.request(caller, op))
}

// request returns a valid request for an operation. It creates what the request needs.
func (f *fixture) request(caller *client, op operation) (method, path string, body any) {
	f.t.Helper()
	if caller.unlimited != "" {
		caller = caller.withKey(caller.unlimited)
	}
	ids := map[string]string{}
	for name, id := range f.ids {
		ids[name] = id
	}
	switch {
	case op.self && op.who().Word == "senders":
		if caller.key != "" {
			ids["UploadId"] = f.uploadOf(caller)
		}
	case op.self:
		ids["UserId"] = caller.id
		if caller.key != "" {
			ids["KeyId"] = caller.send("POST", "/users/me/keys", nil).want(http.StatusCreated).object().text("id")
		}
	}
	if op.body != nil {
		body = op.body(f)
	}
	route := routeOf(op.id)
	return route.Method, f.path(route, ids), body
}
