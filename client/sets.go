package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Set is a group of resources within one dataspace.
type Set struct {
	ID           string    `json:"id"`
	URL          string    `json:"url"`
	Name         string    `json:"name"` // unique in the service, fixed
	Title        string    `json:"title"`
	Description  string    `json:"description"`
	DataspaceID  string    `json:"dataspaceId"`
	DataspaceURL string    `json:"dataspaceUrl"`
	Resources    string    `json:"resources"`  // URL of the listing of its resources
	State        string    `json:"state"`      // Active or Deleted
	Created      time.Time `json:"created"`    // UTC, to the millisecond
	Modified     time.Time `json:"modified"`   // UTC, to the millisecond
	CreatedBy    string    `json:"createdBy"`  // id of a user
	ModifiedBy   string    `json:"modifiedBy"` // id of a user
	Extract      []string  `json:"extract"`    // from where properties of its files are filled: Sidecar, Header, both or none
	Metadata     Metadata  `json:"metadata,omitempty"`
	ETag         string    `json:"-"` // for IfMatch and IfNoneMatch; "" in listings
}

func (s *Set) identify(etag string) string {
	s.ETag = etag
	return s.ID
}

// NewSet is a set to be made. Name and DataspaceID are needed.
type NewSet struct {
	Name        string `json:"name"` // 2 to 100 of a-z, 0-9, - and _
	DataspaceID string `json:"dataspaceId"`
	Title       string `json:"title,omitempty"`       // up to 500 characters
	Description string `json:"description,omitempty"` // up to 16 KiB

	Extract  []string `json:"extract,omitempty"` // Sidecar, Header or both; none: properties are what people say
	Metadata Metadata `json:"metadata,omitempty"`
}

// From where properties of files are filled without a person: a file beside them, or what they say themselves.
const (
	Sidecar = "sidecar"
	Header  = "header"
)

// SetEdit changes a set; nil fields stay.
type SetEdit struct {
	Title       *string `json:"title,omitempty"`
	Description *string `json:"description,omitempty"`

	Extract  []string `json:"extract,omitzero"`   // nil: stays; empty: from nowhere
	Metadata Metadata `json:"metadata,omitempty"` // a merge patch
}

// Sets lists the sets that the caller may read, by creation. It takes State, Name, DataspaceID and Limit.
func (c *Client) Sets(ctx context.Context, o ListOptions) iter.Seq2[Set, error] {
	return list[Set](ctx, c, o, "sets")
}

// DataspaceSets lists the sets of a dataspace, by creation. It takes State, Name and Limit.
func (c *Client) DataspaceSets(ctx context.Context, dataspaceID string, o ListOptions) iter.Seq2[Set, error] {
	return list[Set](ctx, c, o, "dataspaces", dataspaceID, "sets")
}

// Set reads a set.
func (c *Client) Set(ctx context.Context, id string, when ...Condition) (Set, error) {
	return one[Set](ctx, c, request{method: http.MethodGet, path: at("sets", id)}.under(when))
}

// NewSet makes a set.
func (c *Client) NewSet(ctx context.Context, s NewSet) (Set, error) {
	return one[Set](ctx, c, request{method: http.MethodPost, path: at("sets"), in: s, once: true})
}

// EditSet changes a set and returns it as it is then.
func (c *Client) EditSet(ctx context.Context, id string, edit SetEdit, when ...Condition) (Set, error) {
	return one[Set](ctx, c, request{method: http.MethodPut, path: at("sets", id), in: edit}.under(when))
}

// DeleteSet deletes a set with its resources, which RestoreSet brings back. It returns when all are deleted; that it was deleted
// already is no error.
func (c *Client) DeleteSet(ctx context.Context, id string, when ...Condition) error {
	return c.nothing(ctx, request{method: http.MethodDelete, path: at("sets", id)}.under(when))
}

// RestoreSet brings back a set and exactly the resources that its deletion took. That it is active already is no error.
func (c *Client) RestoreSet(ctx context.Context, id string, when ...Condition) (Set, error) {
	return one[Set](ctx, c, request{method: http.MethodPost, path: at("sets", id, "restore")}.under(when))
}

// Archive asks for a zip of the files of a set: of these resources, at most 1000, or of all active ones where none is named. Its
// last entries are SHA256SUMS and manifest.json. It is made while it is sent, so Bytes is mostly -1 and it cannot be resumed.
func (c *Client) Archive(ctx context.Context, setID string, resources ...string) (*Download, error) {
	path := at("sets", setID, "archive")
	if path != "" && len(resources) > 0 {
		path += "?" + url.Values{"resource": resources}.Encode()
	}
	var zip *Download
	err := c.run(ctx, request{method: http.MethodGet, path: path}, func(response *http.Response) error {
		zip = download(response)
		return typed(response, "application/zip")
	})
	if err != nil {
		return nil, err
	}
	return zip, nil
}
