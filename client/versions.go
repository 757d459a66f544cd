package client

import (
	"context"
	"iter"
	"net/http"
	"strconv"

	"labshelf/handlers/wire"
)

// Versions are the calls about versions of files.
type Versions struct{ c *caller }

// List lists the versions of a resource, the newest first. It takes Limit.
func (s Versions) List(ctx context.Context, id string, o ListOptions) iter.Seq2[Version, error] {
	return list[Version](ctx, s.c, o, "resources", id, "versions")
}

// Get reads the record of one version.
func (s Versions) Get(ctx context.Context, id string, number int64) (Version, error) {
	return one[Version](ctx, s.c, request{method: http.MethodGet, path: atVersion(id, number)})
}

// Data is like Resources.Data for one version.
func (s Versions) Data(ctx context.Context, id string, number, from int64, ifMatch string) (*File, error) {
	return s.c.resumed(ctx, atVersion(id, number, "data"), from, ifMatch)
}

// Restore makes a version the current one, as a new version that shares its file. If the resource
// already equals that version, this is not an error.
func (s Versions) Restore(ctx context.Context, id string, number int64, when ...Condition) (Resource, error) {
	return one[Resource](ctx, s.c, request{method: http.MethodPost, path: atVersion(id, number, "restore")}.under(when))
}

// Label sets the label of a version, of up to 100 characters; "" removes it. It does not change the
// resource.
func (s Versions) Label(ctx context.Context, id string, number int64, label string, when ...Condition) (Version, error) {
	in := wire.VersionLabel{Label: label}
	return one[Version](ctx, s.c, request{method: http.MethodPut, path: atVersion(id, number, "label"), in: in}.under(when))
}

// Erase removes the file of a replaced version, immediately and permanently. It is for sysadmins.
func (s Versions) Erase(ctx context.Context, id string, number int64) (Version, error) {
	return one[Version](ctx, s.c, request{method: http.MethodDelete, path: atVersion(id, number, "data")})
}

func atVersion(id string, number int64, below ...string) string {
	return at(append([]string{"resources", id, "versions", strconv.FormatInt(number, 10)}, below...)...)
}
