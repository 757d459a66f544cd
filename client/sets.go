package client

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"labshelf/handlers/wire"
)

// Sets lists the sets that the caller may read, by creation. It takes State, Name, DataspaceID and
// Limit.
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

// DeleteSet deletes a set with its resources, which RestoreSet brings back. It returns when all are
// deleted; that it was deleted already is no error.
func (c *Client) DeleteSet(ctx context.Context, id string, when ...Condition) error {
	return c.nothing(ctx, request{method: http.MethodDelete, path: at("sets", id)}.under(when))
}

// RestoreSet brings back a set and exactly the resources that its deletion took. That it is active
// already is no error.
func (c *Client) RestoreSet(ctx context.Context, id string, when ...Condition) (Set, error) {
	return one[Set](ctx, c, request{method: http.MethodPost, path: at("sets", id, "restore")}.under(when))
}

// Archive asks for a zip of the files of a set: of these resources, at most 1000, or of all active
// ones where none is named. Its last entries are SHA256SUMS and manifest.json. It is made while it
// is sent, so Bytes is mostly -1 and it cannot be resumed.
func (c *Client) Archive(ctx context.Context, setID string, resources ...string) (*Download, error) {
	return c.archive(ctx, setID, url.Values{"resource": resources})
}

// FolderArchive is Archive for the files of a folder, whose path ends in a slash.
func (c *Client) FolderArchive(ctx context.Context, setID, path string) (*Download, error) {
	return c.archive(ctx, setID, url.Values{"folder": {path}})
}

func (c *Client) archive(ctx context.Context, setID string, of url.Values) (*Download, error) {
	path := at("sets", setID, "archive")
	if query := of.Encode(); path != "" && query != "" {
		path += "?" + query
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

// FolderDestination is where a folder goes; SetID "": it stays in its set. Nothing may be there.
type FolderDestination struct {
	SetID string
	Path  string
}

// FolderSize counts the active files of a folder, whose path ends in a slash, up to 10,000; "": of
// the set.
func (c *Client) FolderSize(ctx context.Context, setID, path string) (size FolderSize, err error) {
	address := at("sets", setID, "folder")
	if address != "" && path != "" {
		address += "?" + url.Values{"path": {path}}.Encode()
	}
	err = c.run(ctx, request{method: http.MethodGet, path: address}, func(response *http.Response) error { return read(response, &size) })
	return size, err
}

// NewFolder creates a folder without files.
func (c *Client) NewFolder(ctx context.Context, setID, path string) (FolderChange, error) {
	return c.changeFolder(ctx, at("sets", setID, "folder"), path, FolderDestination{})
}

// CopyFolder copies a folder with all of its files. After an error, what was copied stays.
func (c *Client) CopyFolder(ctx context.Context, setID, path string, to FolderDestination) (FolderChange, error) {
	return c.changeFolder(ctx, at("sets", setID, "folder", "copy"), path, to)
}

// MoveFolder renames or moves a folder with all of its files. After an error, each file is in one
// place or the other.
func (c *Client) MoveFolder(ctx context.Context, setID, path string, to FolderDestination) (FolderChange, error) {
	return c.changeFolder(ctx, at("sets", setID, "folder", "move"), path, to)
}

// DeleteFolder deletes a folder with all of its files, each of which RestoreResource brings back.
func (c *Client) DeleteFolder(ctx context.Context, setID, path string) (FolderChange, error) {
	return c.changeFolder(ctx, at("sets", setID, "folder", "delete"), path, FolderDestination{})
}

// RestoreFolder undoes a deletion, as the same user: its files are restored, less those that were
// restored, purged or moved since.
func (c *Client) RestoreFolder(ctx context.Context, deleted FolderChange) (done FolderChange, err error) {
	in := wire.FolderRequest{Path: deleted.Path, Deletion: deleted.Deletion, CreatedFolders: deleted.CreatedFolders}
	err = c.run(ctx, request{method: http.MethodPost, path: at("sets", deleted.SetID, "folder", "restore"), in: in, once: true}, func(response *http.Response) error { return read(response, &done) })
	return done, err
}

// ChangeMany deletes, restores, copies or moves many files of a set, in steps. It returns a result
// for each of them, in their order; one that is refused is no error.
func (c *Client) ChangeMany(ctx context.Context, setID string, many ManyFiles) ([]ManyResult, error) {
	var done wire.ManyChanged
	err := c.run(ctx, request{method: http.MethodPost, path: at("sets", setID, "many"), in: many, once: true}, func(response *http.Response) error { return read(response, &done) })
	return done.Results, err
}

func (c *Client) changeFolder(ctx context.Context, address, path string, to FolderDestination) (done FolderChange, err error) {
	in := wire.FolderRequest{Path: path, ToPath: to.Path, SetID: to.SetID}
	err = c.run(ctx, request{method: http.MethodPost, path: address, in: in, once: true}, func(response *http.Response) error { return read(response, &done) })
	return done, err
}

// DriveLock is a lock that a client of the network drive holds.
type DriveLock struct {
	Token string `json:"token"` // a URI, which EndDriveLock needs
	Path  string `json:"path"`  // on the drive: DATASPACE/SET, and the path of the file or folder in the set
	Owner string `json:"owner"` // as the client of the drive names itself; often ""
}

// DriveLocks returns the locks of a path on the drive, such as DATASPACE/SET/NAME, and of the files
// and folders directly in it.
func (c *Client) DriveLocks(ctx context.Context, path string) (locks []DriveLock, err error) {
	var answer struct {
		Locks []struct {
			Token string `xml:"locktoken>href"`
			Root  string `xml:"lockroot>href"`
			Owner struct {
				Text string `xml:",chardata"`
				Href string `xml:"href"`
			} `xml:"owner"`
		} `xml:"response>propstat>prop>lockdiscovery>activelock"`
	}
	r := request{method: "PROPFIND", path: at(strings.Split(path, "/")...)}.with("Depth", "1")
	err = c.drive().run(ctx, r, func(response *http.Response) (err error) {
		defer closing(response.Body, &err)
		text, err := io.ReadAll(io.LimitReader(bodyReader{response.Body}, maxAnswer))
		if err == nil && (response.StatusCode != http.StatusMultiStatus || xml.Unmarshal(text, &answer) != nil) {
			err = &Problem{Status: response.StatusCode}
		}
		return err
	})
	seen := map[string]bool{}
	for _, l := range answer.Locks { // a lock of a folder is listed at each file in it, too
		root, wrong := url.Parse(l.Root)
		if wrong != nil {
			return nil, errors.Join(err, wrong)
		}
		_, path, _ := strings.Cut(root.Path, "/dav/")
		if !seen[l.Token] {
			seen[l.Token] = true
			locks = append(locks, DriveLock{l.Token, strings.Trim(path, "/"), strings.TrimSpace(cmp.Or(l.Owner.Href, l.Owner.Text))})
		}
	}
	return locks, err
}

// EndDriveLock ends a lock. Admins of the dataspace end the locks of everybody, other users their
// own.
func (c *Client) EndDriveLock(ctx context.Context, l DriveLock) error {
	r := request{method: "UNLOCK", path: at(strings.Split(l.Path, "/")...)}.with("Lock-Token", "<"+l.Token+">")
	return c.drive().run(ctx, r, func(response *http.Response) error { return response.Body.Close() })
}

// drive returns a client of the drive of the service.
func (c *Client) drive() *Client {
	drive := *c
	drive.base = strings.TrimSuffix(c.base, "/v1") + "/dav"
	return &drive
}
