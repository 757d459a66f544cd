package client

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"

	"labshelf/blobs/digest"
)

// NewResource describes a file to upload. If Name, Format or Mimetype is "", the service chooses
// it.
type NewResource struct {
	SetID       string        // required, except by Resources.Replace
	Name        string        // up to 4096 bytes, may contain "/"; "": Filename
	Filename    string        // "": no file name, then Name is required
	Description string        // up to 16 KiB
	Format      string        // up to 100 characters; "": from the extension
	Mimetype    string        // "": found by the service
	Metadata    Metadata      // for a file that replaces another one: a merge patch
	Digest      digest.Digest // expected digest; zero: the file is hashed while it is sent, and the service compares
}

// Resources are the calls about files.
type Resources struct{ c *caller }

// List lists the resources that the caller may read, by modification. It takes State, Since,
// Until, Order, DataspaceID, SetID and Limit.
func (s Resources) List(ctx context.Context, o ListOptions) iter.Seq2[Resource, error] {
	return list[Resource](ctx, s.c, o, "resources")
}

// Resources lists the resources of a dataspace, by modification. It takes State, Since,
// Until, Order and Limit.
func (s Dataspaces) Resources(ctx context.Context, dataspaceID string, o ListOptions) iter.Seq2[Resource, error] {
	return list[Resource](ctx, s.c, o, "dataspaces", dataspaceID, "resources")
}

// Resources lists the resources of a set, by modification or name. It takes State, Since, Until,
// Order, Name, NamePrefix and Limit.
func (s Sets) Resources(ctx context.Context, setID string, o ListOptions) iter.Seq2[Resource, error] {
	return list[Resource](ctx, s.c, o, "sets", setID, "resources")
}

// Child is a file or a folder of a folder.
type Child struct {
	Folder   *Folder // nil for a file
	Resource Resource
}

// Children yields the direct content of a folder of a set, whose path is o.NamePrefix, sorted by
// name. If NamePrefix does not end in a slash, it filters the content of the folder above. After an
// error it ends.
func (s Sets) Children(ctx context.Context, setID string, o ListOptions) iter.Seq2[Child, error] {
	return func(yield func(Child, error) bool) {
		path := at("sets", setID, "resources")
		if path == "" {
			yield(Child{}, errNoID)
			return
		}
		o.Folders = true
		for page, err := range pages[Resource](ctx, s.c, o.At(s.c.base+path)) {
			if err != nil {
				yield(Child{}, err)
				return
			}
			for _, child := range childrenOf(page, o.Order == "name-descending") {
				if !yield(child, nil) {
					return
				}
			}
		}
	}
}

// childrenOf returns the folders and files of a page, sorted by name.
func childrenOf(p Page[Resource], descending bool) []Child {
	all := make([]Child, 0, len(p.Data)+len(p.Folders))
	for _, r := range p.Data {
		all = append(all, Child{Resource: r})
	}
	for _, f := range p.Folders {
		all = append(all, Child{Folder: &f})
	}
	slices.SortStableFunc(all, func(a, b Child) int {
		if descending {
			a, b = b, a
		}
		return strings.Compare(a.Name(), b.Name())
	})
	return all
}

// MarshalJSON writes the folder, or the resource.
func (c Child) MarshalJSON() ([]byte, error) {
	if c.Folder != nil {
		return json.Marshal(c.Folder)
	}
	return json.Marshal(&c.Resource)
}

// Name is the name of the file, or the path of the folder.
func (c Child) Name() string {
	if c.Folder != nil {
		return c.Folder.Path
	}
	return c.Resource.Name
}

// Get reads a record.
func (s Resources) Get(ctx context.Context, id string, when ...Condition) (Resource, error) {
	return one[Resource](ctx, s.c, request{method: http.MethodGet, path: at("resources", id)}.under(when))
}

// Create uploads a file to a set. body must end after size bytes; -1 means an unknown length. body
// is streamed, and is not read after the call has returned, unless the context ended the call. The
// call is repeated only if the service cannot have stored the file, and only if body is an
// io.Seeker or was not read yet. It returns when the file is on stable storage. The caller closes
// body.
func (s Resources) Create(ctx context.Context, r NewResource, body io.Reader, size int64) (Resource, error) {
	form, err := newForm(r, body, size)
	if err != nil {
		return Resource{}, err
	}
	return one[Resource](ctx, s.c, request{method: http.MethodPost, path: at("resources"), form: form, once: true})
}

// Replace replaces the file of a resource by an upload, like Create. It may be repeated even if the
// service may have stored the file. Name, Description and Format that are "" get their defaults.
// The metadata stay, except for changes in Metadata.
func (s Resources) Replace(ctx context.Context, id string, r NewResource, body io.Reader, size int64, when ...Condition) (Resource, error) {
	form, err := newForm(r, body, size)
	if err != nil {
		return Resource{}, err
	}
	return one[Resource](ctx, s.c, request{method: http.MethodPut, path: at("resources", id), form: form}.under(when))
}

// Edit changes a record without a new upload and returns the new state.
func (s Resources) Edit(ctx context.Context, id string, edit ResourceEdit, when ...Condition) (Resource, error) {
	return one[Resource](ctx, s.c, request{method: http.MethodPatch, path: at("resources", id), in: edit}.under(when))
}

// Delete deletes a resource, which Restore restores. A resource that is already deleted is not an
// error.
func (s Resources) Delete(ctx context.Context, id string, when ...Condition) error {
	return s.c.nothing(ctx, request{method: http.MethodDelete, path: at("resources", id)}.under(when))
}

// Restore restores a deleted resource. An active resource is not an error.
func (s Resources) Restore(ctx context.Context, id string, when ...Condition) (Resource, error) {
	return one[Resource](ctx, s.c, request{method: http.MethodPost, path: at("resources", id, "restore")}.under(when))
}

// Copy creates a resource from the current version of another one, with its metadata. No bytes are
// copied.
func (s Resources) Copy(ctx context.Context, id string, to Destination, when ...Condition) (Resource, error) {
	return one[Resource](ctx, s.c, request{method: http.MethodPost, path: at("resources", id, "copy"), in: to, once: true}.under(when))
}

// Move renames a resource within its set, or moves it to another one, where it becomes a new
// resource with all versions. The old one is deleted, and refers to the new one in MovedTo. Moved
// back, the resource has its old id again.
func (s Resources) Move(ctx context.Context, id string, to Destination, when ...Condition) (Resource, error) {
	return one[Resource](ctx, s.c, request{method: http.MethodPost, path: at("resources", id, "move"), in: to, once: true}.under(when))
}
