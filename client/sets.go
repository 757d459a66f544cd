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

// Sets are the calls about sets.
type Sets struct{ c *caller }

// List lists the sets that the caller may read, by creation. It takes State, Name, DataspaceID and
// Limit.
func (s Sets) List(ctx context.Context, o ListOptions) iter.Seq2[Set, error] {
	return list[Set](ctx, s.c, o, "sets")
}

// Sets lists the sets of a dataspace, by creation. It takes State, Name and Limit.
func (s Dataspaces) Sets(ctx context.Context, dataspaceID string, o ListOptions) iter.Seq2[Set, error] {
	return list[Set](ctx, s.c, o, "dataspaces", dataspaceID, "sets")
}

// Get reads a set.
func (s Sets) Get(ctx context.Context, id string, when ...Condition) (Set, error) {
	return one[Set](ctx, s.c, request{method: http.MethodGet, path: at("sets", id)}.under(when))
}

// Create makes a set.
func (s Sets) Create(ctx context.Context, n NewSet) (Set, error) {
	return one[Set](ctx, s.c, request{method: http.MethodPost, path: at("sets"), in: n, once: true})
}

// Edit changes a set and returns the new state.
func (s Sets) Edit(ctx context.Context, id string, edit SetEdit, when ...Condition) (Set, error) {
	return one[Set](ctx, s.c, request{method: http.MethodPut, path: at("sets", id), in: edit}.under(when))
}

// Delete deletes a set with its resources, which Restore restores. It returns when all are deleted.
// A set that is already deleted is not an error.
func (s Sets) Delete(ctx context.Context, id string, when ...Condition) error {
	return s.c.nothing(ctx, request{method: http.MethodDelete, path: at("sets", id)}.under(when))
}

// Restore restores a set and exactly the resources that were deleted with it. An active set is not
// an error.
func (s Sets) Restore(ctx context.Context, id string, when ...Condition) (Set, error) {
	return one[Set](ctx, s.c, request{method: http.MethodPost, path: at("sets", id, "restore")}.under(when))
}

// Archive requests a zip of files of a set: of these resources, at most 1000, or of all active ones
// if none is given. Its last entries are SHA256SUMS and manifest.json. The zip is created while it
// is sent, so Bytes is usually -1 and it cannot be resumed.
func (s Sets) Archive(ctx context.Context, setID string, resources ...string) (*Download, error) {
	return s.c.archive(ctx, setID, url.Values{"resource": resources})
}

// Folders are the calls about folders of sets.
type Folders struct{ c *caller }

// Archive is like Archive for the files of a folder, whose path ends in a slash.
func (s Folders) Archive(ctx context.Context, setID, path string) (*Download, error) {
	return s.c.archive(ctx, setID, url.Values{"folder": {path}})
}

func (c *caller) archive(ctx context.Context, setID string, of url.Values) (*Download, error) {
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

// FolderDestination is the destination of a folder, which must not exist; without a SetID it is in
// the same set.
type FolderDestination struct {
	SetID string
	Path  string
}

// Size counts the active files of a folder, whose path ends in a slash, up to 10,000; "" is the
// whole set.
func (s Folders) Size(ctx context.Context, setID, path string) (size FolderSize, err error) {
	address := at("sets", setID, "folder")
	if address != "" && path != "" {
		address += "?" + url.Values{"path": {path}}.Encode()
	}
	err = s.c.run(ctx, request{method: http.MethodGet, path: address}, func(response *http.Response) error { return read(response, &size) })
	return size, err
}

// Create creates a folder without files.
func (s Folders) Create(ctx context.Context, setID, path string) (FolderChange, error) {
	return s.change(ctx, at("sets", setID, "folder"), path, FolderDestination{})
}

// Copy copies a folder with all of its files. After an error the copied files stay.
func (s Folders) Copy(ctx context.Context, setID, path string, to FolderDestination) (FolderChange, error) {
	return s.change(ctx, at("sets", setID, "folder", "copy"), path, to)
}

// Move renames or moves a folder with all of its files. After an error, each file is in one
// place or the other.
func (s Folders) Move(ctx context.Context, setID, path string, to FolderDestination) (FolderChange, error) {
	return s.change(ctx, at("sets", setID, "folder", "move"), path, to)
}

// Delete deletes a folder with all of its files, each of which Resources.Restore brings back.
func (s Folders) Delete(ctx context.Context, setID, path string) (FolderChange, error) {
	return s.change(ctx, at("sets", setID, "folder", "delete"), path, FolderDestination{})
}

// Restore undoes a deletion, as the same user: its files are restored, less those that were
// restored, purged or moved since.
func (s Folders) Restore(ctx context.Context, deleted FolderChange) (done FolderChange, err error) {
	in := wire.FolderRequest{Path: deleted.Path, Deletion: deleted.Deletion, CreatedFolders: deleted.CreatedFolders}
	err = s.c.run(ctx, request{method: http.MethodPost, path: at("sets", deleted.SetID, "folder", "restore"), in: in, once: true}, func(response *http.Response) error { return read(response, &done) })
	return done, err
}

// ChangeMany deletes, restores, copies or moves many files of a set, in steps. It returns a result
// for each of them, in their order; a refused file is not an error.
func (s Sets) ChangeMany(ctx context.Context, setID string, many ManyFiles) ([]ManyResult, error) {
	var done wire.ManyChanged
	err := s.c.run(ctx, request{method: http.MethodPost, path: at("sets", setID, "many"), in: many, once: true}, func(response *http.Response) error { return read(response, &done) })
	return done.Results, err
}

func (s Folders) change(ctx context.Context, address, path string, to FolderDestination) (done FolderChange, err error) {
	in := wire.FolderRequest{Path: path, ToPath: to.Path, SetID: to.SetID}
	err = s.c.run(ctx, request{method: http.MethodPost, path: address, in: in, once: true}, func(response *http.Response) error { return read(response, &done) })
	return done, err
}

// DriveLock is a lock that a client of the network drive holds.
type DriveLock struct {
	Token string `json:"token"` // a URI, which Locks.End needs
	Path  string `json:"path"`  // on the drive: DATASPACE/SET, and the path of the file or folder in the set
	Owner string `json:"owner"` // as the client of the drive names itself; often ""
}

// Locks are the calls about locks of the network drive.
type Locks struct{ c *caller }

// List returns the locks of a path on the drive, such as DATASPACE/SET/NAME, and of the files
// and folders directly in it.
func (s Locks) List(ctx context.Context, path string) (locks []DriveLock, err error) {
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
	err = s.c.drive().run(ctx, r, func(response *http.Response) (err error) {
		defer closing(response.Body, &err)
		text, err := io.ReadAll(io.LimitReader(bodyReader{response.Body}, maxAnswer))
		if err == nil && (response.StatusCode != http.StatusMultiStatus || xml.Unmarshal(text, &answer) != nil) {
			err = &Problem{Status: response.StatusCode}
		}
		return err
	})
	seen := map[string]bool{}
	for _, l := range answer.Locks { // a lock of a folder is also listed at each of its files
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

// End ends a lock. Admins of the dataspace can end every lock, other users their own.
func (s Locks) End(ctx context.Context, l DriveLock) error {
	r := request{method: "UNLOCK", path: at(strings.Split(l.Path, "/")...)}.with("Lock-Token", "<"+l.Token+">")
	return s.c.drive().run(ctx, r, func(response *http.Response) error { return response.Body.Close() })
}

// drive returns a client of the service's network drive.
func (c *caller) drive() *caller {
	drive := *c
	drive.base = strings.TrimSuffix(c.base, "/v1") + "/dav"
	return &drive
}
