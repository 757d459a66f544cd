package client

import (
	"context"
	"iter"
	"net/http"
	"strconv"

	"labshelf/handlers/wire"
)

// Versions lists the versions of a resource, the newest first. It takes Limit.
func (c *Client) Versions(ctx context.Context, id string, o ListOptions) iter.Seq2[Version, error] {
	return list[Version](ctx, c, o, "resources", id, "versions")
}

// Version reads the record of one version.
func (c *Client) Version(ctx context.Context, id string, number int64) (Version, error) {
	return one[Version](ctx, c, request{method: http.MethodGet, path: atVersion(id, number)})
}

// VersionData is Data for one version.
func (c *Client) VersionData(ctx context.Context, id string, number, from int64, ifMatch string) (*File, error) {
	return c.resumed(ctx, atVersion(id, number, "data"), from, ifMatch)
}

// RestoreVersion makes a version the current one, as a new version that shares its file. That the
// resource is like that already is no error.
func (c *Client) RestoreVersion(ctx context.Context, id string, number int64, when ...Condition) (Resource, error) {
	return one[Resource](ctx, c, request{method: http.MethodPost, path: atVersion(id, number, "restore")}.under(when))
}

// LabelVersion gives a version a label of up to 100 characters; "" removes it. It is no change of
// the resource.
func (c *Client) LabelVersion(ctx context.Context, id string, number int64, label string, when ...Condition) (Version, error) {
	in := wire.VersionLabel{Label: label}
	return one[Version](ctx, c, request{method: http.MethodPut, path: atVersion(id, number, "label"), in: in}.under(when))
}

// EraseVersion removes the file of a version that has been replaced, at once and for good. It is
// for sysadmins.
func (c *Client) EraseVersion(ctx context.Context, id string, number int64) (Version, error) {
	return one[Version](ctx, c, request{method: http.MethodDelete, path: atVersion(id, number, "data")})
}

func atVersion(id string, number int64, below ...string) string {
	return at(append([]string{"resources", id, "versions", strconv.FormatInt(number, 10)}, below...)...)
}
