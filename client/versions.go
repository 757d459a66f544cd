package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"time"

	"labshelf/blobs"
)

// Version is what a resource is, or was before its file was replaced.
type Version struct {
	Number      int64        `json:"version"` // from 1
	URL         string       `json:"url"`
	DataURL     string       `json:"dataUrl"` // of its file
	ResourceID  string       `json:"resourceId"`
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Format      string       `json:"format"`
	Mimetype    string       `json:"mimetype"`
	Bytes       int64        `json:"bytes"` // length of the file
	SHA256      blobs.Digest `json:"sha256"`
	Filename    string       `json:"filename"`             // without folders; "": none was given
	Created     time.Time    `json:"created"`              // when its file came; UTC, to the millisecond
	CreatedBy   string       `json:"createdBy"`            // id of a user
	Label       string       `json:"label"`                // "": none; one with a label is kept whatever the retention says
	Current     bool         `json:"current"`              // it is the one that the resource is in
	Replaced    time.Time    `json:"replaced,omitzero"`    // when the next one came; zero in the current one
	ReplacedBy  string       `json:"replacedBy,omitempty"` // id of a user
	Removed     time.Time    `json:"removed,omitzero"`     // when its file was removed; zero: it is there
	Rule        string       `json:"rule,omitempty"`       // by which rule, for people
	RemovedBy   string       `json:"removedBy,omitempty"`  // the sysadmin who erased it
	Damaged     bool         `json:"damaged,omitempty"`    // its file is known to be damaged on the server
	Shared      bool         `json:"shared,omitempty"`     // EraseVersion: something else has the same bytes, which stay for that
}

func (v *Version) identify(string) string { return v.ResourceID }

// writtenVersion is a version as JSON has it.
type writtenVersion struct {
	*plainVersion
	SHA256 string `json:"sha256"`
}

type plainVersion Version

// MarshalJSON writes the digest in hexadecimal digits.
func (v Version) MarshalJSON() ([]byte, error) {
	return json.Marshal(writtenVersion{(*plainVersion)(&v), v.SHA256.String()})
}

// UnmarshalJSON reads the digest from hexadecimal digits.
func (v *Version) UnmarshalJSON(text []byte) (err error) {
	w := writtenVersion{plainVersion: (*plainVersion)(v)}
	if err = json.Unmarshal(text, &w); err != nil {
		return err
	}
	if v.SHA256, err = blobs.ParseDigest(w.SHA256); err != nil {
		return fmt.Errorf("sha256: %w", err)
	}
	return nil
}

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
	in := struct {
		Label string `json:"label"`
	}{label}
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
