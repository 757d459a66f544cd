package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"labshelf/client"
	"labshelf/internal/openapitest"
)

// document returns the description of the HTTP API.
func document(t *testing.T) *openapitest.Document {
	t.Helper()
	return must[*openapitest.Document](t)(openapitest.Load(filepath.Join("..", "handlers", "openapi.json")))
}

// TestEveryOperation makes every call to a real service. Each request must match the document, and
// every operation of the document must be called.
func TestEveryOperation(t *testing.T) {
	t.Parallel()
	doc := document(t)
	s, _ := start(t)
	asked := map[string]bool{}
	everyCall(t, s.behind(t, func(w http.ResponseWriter, r *http.Request, service http.Handler) {
		operation, params := doc.Find(r.Method, strings.TrimPrefix(r.URL.Path, "/v1"))
		if operation == nil || operation.Method != r.Method {
			t.Errorf("%s %s is no operation", r.Method, r.URL)
			service.ServeHTTP(w, r)
			return
		}
		asked[operation.ID] = true
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if err := errors.Join(err, operation.ValidateRequest(r, params, body)); err != nil {
			t.Errorf("%s: %v", operation.ID, err)
		}
		service.ServeHTTP(w, r)
	}))
	var left []string
	for _, operation := range doc.Operations {
		if operation.ID == "overrideUpload" { // two operations are for environments that do not allow some methods
			continue
		}
		if !asked[operation.ID] {
			left = append(left, operation.ID)
		}
	}
	slices.Sort(left)
	if len(left) > 0 {
		t.Errorf("no call requests %s", strings.Join(left, ", "))
	}
}

// everyCall makes every call at least once.
func everyCall(t *testing.T, c *client.Client) {
	ctx := t.Context()
	space := containers(ctx, t, c)
	set := must[client.Set](t)(c.Sets.Create(ctx, client.NewSet{Name: "runs", DataspaceID: space.ID}))
	files(ctx, t, c, space, set)
	schemasOf(ctx, t, c, space, set)
	manyEdits(ctx, t, c, set)
	linksOf(ctx, t, c, set)
	people(ctx, t, c, space)

	auditing(ctx, t, c, set)
	usage := must[client.Usage](t)(c.Usage(ctx))
	one, own := must[client.Usage](t)(c.Dataspaces.Usage(ctx, space.ID)), must[client.UserUsage](t)(c.Users.Usage(ctx, client.Me))
	if usage.ActiveFiles != 1 || len(usage.Dataspaces) != 1 || usage.Dataspaces[0].Counters != one.Counters || len(one.Days) != 1 || one.Days[0].Counters != one.Counters || own.Used != one.Bytes() {
		t.Errorf("usage: %+v of all, %+v of one, %+v of the user", usage, one, own)
	}
	session := must[client.Session](t)(c.Sessions.SignIn(ctx, secretOf(ctx, t, c)))
	if session.Username != "admin" || !session.Sysadmin {
		t.Errorf("session of %+v", session)
	}
	check(t, c.Sessions.SignOut(ctx, session))
	for _, fetch := range []func(context.Context) ([]byte, error){c.OpenAPIJSON, c.OpenAPIYAML} {
		if text := must[[]byte](t)(fetch(ctx)); !strings.Contains(string(text), "getOpenAPIJSON") {
			t.Errorf("no description: %.100s", text)
		}
	}
	webhooksOf(ctx, t, c, space)
	searching(ctx, t, c)
	upkeep(ctx, t, c)
}

// secretOf creates a key, and returns it.
func secretOf(ctx context.Context, t *testing.T, c *client.Client) string {
	return must[client.CreatedKey](t)(c.Keys.Create(ctx, client.Me, client.NewKey{Label: "session"})).Secret
}

// containers makes the calls for dataspaces and sets, and returns a dataspace.
func containers(ctx context.Context, t *testing.T, c *client.Client) client.Dataspace {
	space := must[client.Dataspace](t)
	d := space(c.Dataspaces.Create(ctx, client.NewDataspace{Name: "lab", Title: "Lab", Origin: "fieldwork"}))
	edited := space(c.Dataspaces.Edit(ctx, d.ID, client.DataspaceEdit{Description: new("text"), Visibility: new(client.Public)}, client.IfMatch(d.ETag)))
	check(t, c.Dataspaces.Delete(ctx, d.ID, client.IfMatch(edited.ETag)))
	restored := space(c.Dataspaces.Restore(ctx, d.ID))
	same(t, space(c.Dataspaces.Get(ctx, d.ID)), restored)
	for _, o := range []client.ListOptions{{Limit: 1}, {State: client.All, Visibility: client.Public, Origin: new("fieldwork")}} {
		same(t, collect(t, c.Dataspaces.List(ctx, o)), []client.Dataspace{untagged(restored)})
	}
	same(t, len(collect(t, c.Dataspaces.List(ctx, client.ListOptions{Origin: new("")}))), 0)

	set := must[client.Set](t)
	made := set(c.Sets.Create(ctx, client.NewSet{Name: "first", DataspaceID: d.ID, Title: "First"}))
	if made = set(c.Sets.Edit(ctx, made.ID, client.SetEdit{Title: new("")})); made.Title != "" {
		t.Errorf("the title is %q", made.Title)
	}
	check(t, c.Sets.Delete(ctx, made.ID))
	made = set(c.Sets.Restore(ctx, made.ID))
	same(t, set(c.Sets.Get(ctx, made.ID)), made)
	check(t, c.Sets.Delete(ctx, made.ID, client.IfMatch(made.ETag)))
	deleted := set(c.Sets.Get(ctx, made.ID))
	deleted.ETag = ""
	for _, o := range []client.ListOptions{{State: client.Deleted, Limit: 1}, {State: client.All}} {
		same(t, collect(t, c.Sets.List(ctx, o)), []client.Set{deleted})
		same(t, collect(t, c.Dataspaces.Sets(ctx, d.ID, o)), []client.Set{deleted})
	}
	return restored
}

func untagged(d client.Dataspace) client.Dataspace {
	d.ETag = ""
	return d
}

func same[T any](t *testing.T, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// collect reads a listing, and fails the test after an error.
func collect[T any](t *testing.T, all iter.Seq2[T, error]) (got []T) {
	t.Helper()
	for item, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, item)
	}
	return got
}

// files makes the calls for resources. One resource remains.
func files(ctx context.Context, t *testing.T, c *client.Client, space client.Dataspace, set client.Set) {
	resource := must[client.Resource](t)
	made := resource(c.Resources.Create(ctx, client.NewResource{SetID: set.ID, Name: "a/b.csv", Filename: "b.csv", Description: "d", Format: "F", Mimetype: "text/x-y"},
		strings.NewReader("1,2\n"), 4))
	made = resource(c.Resources.Replace(ctx, made.ID, client.NewResource{Name: "a/b.csv", Filename: "c.csv"}, strings.NewReader("1,2,3\n"), -1, client.IfMatch(made.ETag)))
	made = resource(c.Resources.Edit(ctx, made.ID, client.ResourceEdit{Description: new("e")}))
	made = inChunks(ctx, t, c, made)
	check(t, c.Resources.Delete(ctx, made.ID))
	made = resource(c.Resources.Restore(ctx, made.ID))
	same(t, resource(c.Resources.Get(ctx, made.ID)), made)
	listed := made
	listed.ETag = ""
	window := client.ListOptions{Since: made.Created.Add(-time.Second), Until: made.Modified.Add(time.Hour), Order: "newest", Limit: 1, State: client.All}
	inSpace := window
	inSpace.DataspaceID, inSpace.SetID = space.ID, set.ID
	for _, all := range []iter.Seq2[client.Resource, error]{
		c.Resources.List(ctx, inSpace), c.Dataspaces.Resources(ctx, space.ID, window), c.Sets.Resources(ctx, set.ID, window),
		c.Sets.Resources(ctx, set.ID, client.ListOptions{Name: "a/b.csv"}), c.Sets.Resources(ctx, set.ID, client.ListOptions{NamePrefix: "a/", Order: "name"}),
	} {
		same(t, collect(t, all), []client.Resource{listed})
	}
	for _, resources := range [][]string{nil, {made.ID}} {
		zip := must[*client.Download](t)(c.Sets.Archive(ctx, set.ID, resources...))
		if text := must[[]byte](t)(io.ReadAll(zip)); !strings.Contains(string(text), "SHA256SUMS") {
			t.Errorf("%d bytes are not an archive", len(text))
		}
		check(t, zip.Close())
	}
	file := must[*client.File](t)(c.Resources.Data(ctx, made.ID, 0, ""))
	if text := must[[]byte](t)(io.ReadAll(file)); string(text) != "1,2,3\n" || file.Filename != "b.csv" || file.Bytes != made.Bytes || file.Digest != made.SHA256 {
		t.Errorf("%q is %+v", text, file)
	}
	check(t, file.Close())
	versions(ctx, t, c, made)
	placements(ctx, t, c, made)
}

// versions makes the calls for the versions of a resource. Of its three versions, the last two have
// the same content.
func versions(ctx context.Context, t *testing.T, c *client.Client, r client.Resource) {
	version := must[client.Version](t)
	all := collect(t, c.Versions.List(ctx, r.ID, client.ListOptions{Limit: 1}))
	if len(all) != 3 || r.Version != 3 || !all[0].Current || all[0].SHA256 != r.SHA256 || all[2].Number != 1 || all[2].Bytes != 4 {
		t.Fatalf("versions %+v of %+v", all, r)
	}
	same(t, version(c.Versions.Get(ctx, r.ID, 1)), all[2])
	for from, want := range []string{"1,2\n", ",2\n"} {
		file := must[*client.File](t)(c.Versions.Data(ctx, r.ID, 1, int64(from), ""))
		if text := must[[]byte](t)(io.ReadAll(file)); string(text) != want || file.Digest != all[2].SHA256 || file.Total != 4 {
			t.Errorf("%q is %+v", text, file)
		}
		check(t, file.Close())
	}
	same(t, version(c.Versions.Label(ctx, r.ID, 1, "as published", client.IfMatch(r.ETag))).Label, "as published")
	restored := must[client.Resource](t)(c.Versions.Restore(ctx, r.ID, 1, client.IfMatch(r.ETag)))
	if restored.Version != 4 || restored.SHA256 != all[2].SHA256 || restored.Filename != "b.csv" {
		t.Errorf("restored %+v", restored)
	}
	if history := collect(t, c.Audit.History(ctx, "resources", r.ID, client.ListOptions{Limit: 2})); history[0].Action != "version.restore" || history[0].Version != 4 {
		t.Errorf("history %+v", history)
	}
	erased := version(c.Versions.Erase(ctx, r.ID, 2))
	if erased.Rule == "" || erased.Removed.IsZero() || erased.RemovedBy == "" {
		t.Errorf("erased %+v", erased)
	}
}

// auditing makes the calls for the audit log.
func auditing(ctx context.Context, t *testing.T, c *client.Client, set client.Set) {
	log := collect(t, c.Audit.List(ctx, client.ListOptions{Limit: 3, Action: "set.*"}))
	for kind, id := range map[string]string{"dataspaces": set.DataspaceID, "sets": set.ID} {
		history := collect(t, c.Audit.History(ctx, kind, id, client.ListOptions{Limit: 1}))
		if len(history) == 0 || history[len(history)-1].ObjectID != id {
			t.Errorf("history of %s: %+v", kind, history)
		}
	}
	if first := log[len(log)-1]; first.Action != "set.create" || !strings.Contains(string(first.Texts), `"name":`) || first.UserID == "" || first.Address == "" {
		t.Errorf("the first entry about a set: %+v", first)
	}
	head := must[client.AuditHead](t)(c.Audit.Head(ctx, -1))
	if again := must[client.AuditHead](t)(c.Audit.Head(ctx, int64(head.Size))); again.Head != head.Head || head.Size == 0 {
		t.Errorf("%+v, then %+v", head, again)
	}
	if proof := must[[][]byte](t)(c.Audit.Proof(ctx, 0, head.Size)); len(proof) == 0 {
		t.Error("an empty proof")
	}
	for e, err := range c.Events(ctx, "an id of no object") {
		if check(t, err); e.Kind != client.Reload || e.ID == "" {
			t.Errorf("%+v", e)
		}
		break
	}
	check(t, c.Audit.Erase(ctx, log[0].Number))
	export := must[io.ReadCloser](t)(c.Audit.Export(ctx))
	lines := strings.Count(string(must[[]byte](t)(io.ReadAll(export))), "\n")
	if check(t, export.Close()); uint64(lines) != head.Size+2 {
		t.Errorf("%d lines in an export of %d entries", lines, head.Size+1)
	}
}

// inChunks makes the calls for uploads. One upload replaces the file of a resource with the same
// file, and another one is ended.
func inChunks(ctx context.Context, t *testing.T, c *client.Client, r client.Resource) client.Resource {
	const content = "1,2,3\n"
	same := client.NewResource{Name: r.Name, Filename: r.Filename, Description: r.Description}
	upload := must[client.Upload](t)
	begun := upload(c.Uploads.Begin(ctx, same, int64(len(content)), r.ID, client.IfMatch(r.ETag)))
	if got := upload(c.Uploads.Get(ctx, begun.ID)); got.Offset != 0 || got.Length != int64(len(content)) || got.ResourceID != "" {
		t.Errorf("at the beginning: %+v", got)
	}
	replaced := must[client.Resource](t)(c.Uploads.Continue(ctx, begun.ID, strings.NewReader(content), int64(len(content))))
	if got := upload(c.Uploads.Get(ctx, begun.ID)); got.ResourceID != r.ID || replaced.ID != r.ID || replaced.SHA256 != r.SHA256 {
		t.Errorf("at the end: %+v for %+v", got, replaced)
	}
	check(t, c.Uploads.End(ctx, upload(c.Uploads.Begin(ctx, same, 1, r.ID)).ID))
	return replaced
}

// people makes the calls for users, keys and privileges.
func people(ctx context.Context, t *testing.T, c *client.Client, space client.Dataspace) {
	user := must[client.User](t)
	mary := user(c.Users.Create(ctx, client.NewUser{Username: "mary"}))
	mary = user(c.Users.Edit(ctx, mary.ID, client.UserEdit{Fullname: new("Mary"), Sysadmin: new(true)}, client.IfMatch(mary.ETag)))
	check(t, c.Users.Delete(ctx, mary.ID, client.IfMatch(mary.ETag)))
	mary = user(c.Users.Restore(ctx, mary.ID))
	same(t, user(c.Users.Get(ctx, mary.ID)), mary)
	me := user(c.Users.Me(ctx))
	same(t, me.Username, "admin")
	me.ETag, mary.ETag = "", ""
	same(t, collect(t, c.Users.List(ctx, client.ListOptions{Limit: 1})), []client.User{me, mary})

	expires := time.Date(2222, 1, 2, 3, 4, 5, 6e6, time.FixedZone("", 3600))
	key := must[client.CreatedKey](t)(c.Keys.Create(ctx, mary.ID, client.NewKey{Label: "notebook", Expires: client.Time{Time: expires}}))
	her := client.New(c.Base(), key.Secret)
	defer her.Close()
	same(t, user(her.Users.Me(ctx)).ID, mary.ID)
	checkDependents(t, c, her, key)
	edited := must[client.Key](t)(c.Keys.Edit(ctx, mary.ID, key.ID, client.KeyEdit{Label: new("laptop"), Networks: &[]string{"::1", "127.0.0.0/8"}}))
	same(t, edited.KeyLimits, client.KeyLimits{Scope: "all", Networks: []string{"127.0.0.0/8", "::1/128"}})
	edited = must[client.Key](t)(c.Keys.Narrow(ctx, mary.ID, key.ID, client.KeyEdit{Scope: new("read"), Networks: &[]string{"127.0.0.0/8"}}))
	same(t, must[client.Key](t)(c.Keys.Get(ctx, mary.ID, key.ID)), edited)
	same(t, edited.KeyLimits, client.KeyLimits{Scope: "read", Networks: []string{"127.0.0.0/8"}})
	check(t, c.Keys.Revoke(ctx, mary.ID, key.ID))
	keys := collect(t, c.Keys.List(ctx, mary.ID, client.ListOptions{Limit: 1}))
	if len(keys) != 2 || keys[0].State != "revoked" || !keys[0].Expires.Equal(expires) || keys[0].ID != key.ID {
		t.Errorf("the keys are %+v", keys)
	}

	privilege := must[client.Privilege](t)
	granted := privilege(c.Privileges.Grant(ctx, client.NewPrivilege{UserID: mary.ID, DataspaceID: space.ID, Role: client.Editor}))
	same(t, privilege(c.Privileges.Grant(ctx, client.NewPrivilege{UserID: mary.ID, DataspaceID: space.ID, Role: client.Member})).ID, granted.ID)
	check(t, c.Privileges.Revoke(ctx, granted.ID))
	granted = privilege(c.Privileges.Get(ctx, granted.ID))
	granted.ETag = ""
	same(t, collect(t, c.Privileges.List(ctx, client.ListOptions{UserID: mary.ID, DataspaceID: space.ID, State: client.Deleted, Limit: 1})), []client.Privilege{granted})
}

// upkeep makes the calls for the maintenance of a service.
func upkeep(ctx context.Context, t *testing.T, c *client.Client) {
	must[client.Status](t)(c.Status(ctx))
	snapshot, _, err := c.Maintenance.Snapshot(ctx)
	check(t, drain(snapshot, err))
	for r, err := range c.Resources.List(ctx, client.ListOptions{}) {
		check(t, err)
		blob, err := c.Maintenance.Blob(ctx, r.SHA256)
		check(t, drain(blob, err))
	}
	result, err := c.Maintenance.Check(ctx, client.CheckRequest{}, client.CheckEvents{})
	_, wrong := c.Maintenance.Purge(ctx, client.PurgeRequest{OlderThan: "0s", DryRun: true})
	if err := errors.Join(err, wrong); err != nil || result.Violations != 0 {
		t.Errorf("%+v, %v", result, err)
	}
}

// unchanging contains fields that a change may repeat unchanged. A client does not need this.
var unchanging = map[string][]string{
	"DataspaceUpdate": {"created", "createdBy", "id", "modified", "modifiedBy", "name", "resources", "sets", "state", "url"},
	"SetUpdate":       {"created", "createdBy", "dataspaceId", "dataspaceUrl", "id", "modified", "modifiedBy", "name", "resources", "state", "url"},
	"UserUpdate":      {"id", "state", "url", "username"},
	"SchemaUpdate":    {"created", "createdBy", "dataspaceId", "for", "form", "id", "modified", "modifiedBy", "state", "url", "version"},
	"LinkUpdate":      {"bytesReceived", "created", "createdBy", "dataspaceId", "folder", "hasPassword", "id", "kind", "lastUsed", "madeWith", "modified", "modifiedBy", "ownerId", "resourceIds", "role", "setId", "state", "unfinishedBytes", "unfinishedUploads", "url", "uses", "version"},
	"WebhookUpdate": {"because", "created", "createdBy", "dataspaceId", "deliveries", "formerSecretUntil", "id", "madeWith", "modified", "modifiedBy", "nextTry", "paused",
		"position", "reason", "state", "tries"},
	"ResourceEdit": {"bytes", "created", "createdBy", "damaged", "dataUrl", "dataspaceId", "filename", "id", "mimetype", "modified", "modifiedBy", "movedTo", "linkId",
		"purged", "setId", "sha256", "size", "state", "url", "version", "viewDataUrl"},
}

// TestSchemas: records and requests have the fields of the document, except fields that a change
// only repeats.
func TestSchemas(t *testing.T) {
	t.Parallel()
	doc := document(t)
	for name, example := range map[string]any{
		"Dataspace": client.Dataspace{}, "Set": client.Set{}, "Resource": client.Resource{}, "User": client.User{}, "NewKey": client.CreatedKey{},
		"Key": client.Key{}, "Privilege": client.Privilege{}, "Usage": client.Usage{}, "DataspaceUsage": client.Usage{}, "UserUsage": client.UserUsage{}, "Session": client.Session{},
		"DataspaceCreation": client.NewDataspace{}, "SetCreation": client.NewSet{}, "UserCreation": client.NewUser{}, "KeyCreation": client.NewKey{},
		"KeyDependents": client.KeyDependents{}, "KeyDependent": client.KeyDependent{},
		"PrivilegeGrant": client.NewPrivilege{}, "DataspaceUpdate": client.DataspaceEdit{}, "SetUpdate": client.SetEdit{}, "UserUpdate": client.UserEdit{},
		"ResourceEdit": client.ResourceEdit{}, "Destination": client.Destination{}, "Version": client.Version{},
		"Webhook": client.Webhook{}, "NewWebhook": client.SecretWebhook{}, "WebhookCreation": client.NewWebhook{}, "WebhookUpdate": client.WebhookEdit{},
		"Schema": client.Schema{}, "SchemaCreation": client.NewSchema{}, "SchemaUpdate": client.SchemaEdit{}, "SchemaVersion": client.SchemaVersion{},
		"Link": client.Link{}, "NewLink": client.AddressedLink{}, "LinkCreation": client.NewLink{}, "LinkUpdate": client.LinkEdit{}, "Delivery": client.Delivery{}, "Edit": client.Edit{}, "ManyEdit": client.ManyEdit{}, "Index": client.Index{}, "SearchCounts": client.SearchCounts{}, "SearchCount": client.SearchCount{},
	} {
		want := slices.DeleteFunc(doc.Schema(name).Get("properties").Names(), func(field string) bool {
			return slices.Contains(unchanging[name], strings.TrimSuffix(field, "_epoch"))
		})
		var got []string
		for _, field := range reflect.VisibleFields(reflect.TypeOf(example)) {
			tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if tag != "" && tag != "-" && (tag != "dataspaces" || name != "DataspaceUsage") && (tag != "quota" || name != "Usage") {
				got = append(got, tag)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-document +client)\n%s", name, diff)
		}
	}
}
