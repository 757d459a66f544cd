package script

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
)

// MetaFile is the name of the metadata file in a data directory.
const MetaFile = "meta.db"

// stores holds the stores that the operations use.
type stores struct {
	dir     string
	store   *bolt.Store
	files   *directory.Store
	svc     *repository.Service
	admin   auth.Principal
	ids     map[string]string // by the names of the script
	blocker *files.Upload     // a running upload that prevents flushes; nil: none
	flushed chan error        // the result of each flushed batch
}

// operation is one operation of the script. It can be repeated after a failure.
type operation struct {
	name      string
	inBatches bool // uses several commits
	run       func(context.Context, *stores) error
}

// Operation returns the name of the nth operation of the script, and whether it uses several
// commits.
func Operation(n int) (name string, inBatches bool) {
	all := operations()
	if n >= len(all) {
		return "the end", false
	}
	return all[n].name, all[n].inBatches
}

// Length returns the number of operations.
func Length() int { return len(operations()) }

// many is the number of objects whose deletion with their set takes two commits.
const many = 203

// operations returns the script. Each object has a unique name, so a State can be keyed by names.
func operations() []operation { return slices.Concat(first(), accounts(), steps()) }

// first creates the stores and files, and changes the files.
func first() []operation {
	return []operation{
		{"first creation", false, func(_ context.Context, w *stores) error { return w.open() }},
		{"bootstrap", false, bootstrap},
		{"dataspace", false, dataspace("lab")},
		{"set", false, set("photos", "lab")},
		{"second set", false, set("notes", "lab")},
		{"create", false, upload("photos", "a.txt", 300)},
		{"create larger", false, upload("photos", "b.bin", 70_000)},
		{"create in two writes", false, upload("notes", "c.bin", 300_000)},
		{"create empty", false, upload("notes", "empty", 0)},
		{"create with an existing body", false, upload("notes", "a again.txt", 300)},
		{"create to be purged", false, upload("photos", "old.bin", 5_000)},
		{"begin an upload in parts", false, begin("notes", "parts.bin", 90_000)},
		{"first part", false, part("parts.bin", 90_000, 50_000)},
		{"last part", true, part("parts.bin", 90_000, 90_000)},
		{"begin an upload to cancel", false, begin("notes", "half.bin", 60_000)},
		{"a part of the upload to cancel", false, part("half.bin", 60_000, 20_000)},
		{"cancel the upload", false, cancel("half.bin")},
		{"flush", false, flush},
		{"replace", false, replace("a.txt", 301)},
		{"replace by an existing body", false, replace("b.bin", 301)},
		{"replace an inline body", false, replace("a.txt", 302)},
		{"label a version", false, withID("a.txt", func(ctx context.Context, w *stores, id string) error {
			return last(w.svc.Versions.Label(ctx, w.admin, id, "1", files.VersionFields{Label: new("first")}, core.Match{}))
		})},
		{"restore a version", false, withID("a.txt", func(ctx context.Context, w *stores, id string) error {
			return last(w.svc.Versions.Restore(ctx, w.admin, id, "2", core.Match{}))
		})},
		{"restore an inline version", false, withID("a.txt", func(ctx context.Context, w *stores, id string) error {
			return last(w.svc.Versions.Restore(ctx, w.admin, id, "3", core.Match{}))
		})},
		{"erase a version", true, withID("b.bin", func(ctx context.Context, w *stores, id string) error {
			_, _, err := w.svc.Versions.Erase(ctx, w.admin, id, "1")
			return err
		})},
		{"patch", false, edit("a.txt", files.Fields{Description: new("patched")})},
		{"rename", false, edit("c.bin", files.Fields{Name: new("d.bin")})},
		{"delete", false, withID("a.txt", func(ctx context.Context, w *stores, id string) error {
			return last(w.svc.Files.Delete(ctx, w.admin, id, core.Match{}))
		})},
		{"restore", false, withID("a.txt", func(ctx context.Context, w *stores, id string) error {
			return last(w.svc.Files.Restore(ctx, w.admin, id, core.Match{}))
		})},
		{"delete to be purged", false, withID("old.bin", func(ctx context.Context, w *stores, id string) error {
			return last(w.svc.Files.Delete(ctx, w.admin, id, core.Match{}))
		})},
		{"delete another", false, withID("empty", func(ctx context.Context, w *stores, id string) error {
			return last(w.svc.Files.Delete(ctx, w.admin, id, core.Match{}))
		})},
	}
}

// accounts are operations on users, keys and privileges.
func accounts() []operation {
	return []operation{
		{"user", false, func(ctx context.Context, w *stores) error {
			u, err := w.svc.Users.Create(ctx, w.admin, containers.NewUser{Username: "member"})
			w.ids["member"] = u.ID.String()
			return err
		}},
		{"grant", false, func(ctx context.Context, w *stores) error {
			editor := containers.NewPrivilege{UserID: w.ids["member"], DataspaceID: w.ids["lab"], Role: auth.Editor}
			p, _, err := w.svc.Users.Grant(ctx, w.admin, editor)
			w.ids["grant"] = p.ID.String()
			return err
		}},
		{"key", false, func(ctx context.Context, w *stores) error {
			k, _, err := w.svc.Users.CreateKey(ctx, w.admin, w.ids["member"], containers.KeyFields{Label: new("laptop")})
			w.ids["laptop"] = k.ID.String()
			return err
		}},
		{"revoke the key", false, withID("laptop", func(ctx context.Context, w *stores, id string) error {
			return w.svc.Users.RevokeKey(ctx, w.admin, w.ids["member"], id, false)
		})},
		{"revoke the grant", false, withID("grant", func(ctx context.Context, w *stores, id string) error {
			return last(w.svc.Users.Revoke(ctx, w.admin, id, core.Match{}))
		})},
	}
}

// steps are cascades over several commits, purges, copies, and opening the stores again.
func steps() []operation {
	return []operation{
		{"second dataspace", false, dataspace("archive")},
		{"set for many", false, set("many", "archive")},
		{"flush changed bodies", false, flush},
		{"many files in one commit", false, fill},
		{"delete a set in steps", true, withID("many", func(ctx context.Context, w *stores, id string) error {
			return last(w.svc.Sets.Delete(ctx, w.admin, id, core.Match{}))
		})},
		{"restore the set in steps", true, withID("many", func(ctx context.Context, w *stores, id string) error {
			return last(w.svc.Sets.Restore(ctx, w.admin, id, core.Match{}))
		})},
		{"delete a dataspace in steps", true, withID("archive", func(ctx context.Context, w *stores, id string) error {
			return last(w.svc.Dataspaces.Delete(ctx, w.admin, id, core.Match{}))
		})},
		{"create to be purged while inline", false, upload("photos", "brief.txt", 60)},
		{"delete an inline body", false, withID("brief.txt", func(ctx context.Context, w *stores, id string) error {
			return last(w.svc.Files.Delete(ctx, w.admin, id, core.Match{}))
		})},
		{"keep few versions", false, withID("lab", func(ctx context.Context, w *stores, id string) error {
			return last(w.svc.Dataspaces.Update(ctx, w.admin, id, containers.DataspaceFields{Retention: &metadata.Retention{Last: 3}}, core.Match{}))
		})},
		{"purge", true, purge(maintenance.PurgeOptions{Grace: 24 * time.Hour})},
		{"create with a purged body", false, upload("photos", "old again.bin", 5_000)},
		{"empty the trash", true, purge(maintenance.PurgeOptions{})},
		{"snapshot", false, snapshot},
		{"begin an upload before closing", false, begin("photos", "late.bin", 80_000)},
		{"a part before closing", false, part("late.bin", 80_000, 30_000)},
		{"create before closing", false, upload("photos", "f.txt", 30)},
		{"close and open", false, func(_ context.Context, w *stores) error { return errors.Join(w.close(), w.open()) }},
		{"a part after opening", false, part("late.bin", 80_000, 60_000)},
		{"create after opening", false, upload("notes", "e.txt", 40)},
		{"replace after opening", false, replace("e.txt", 41)},
		{"edit a set", false, withID("notes", func(ctx context.Context, w *stores, id string) error {
			return last(w.svc.Sets.Update(ctx, w.admin, id, containers.SetFields{Title: new("Notes")}, core.Match{}))
		})},
		{"flush after opening", false, flush},
		{"the last part after opening", true, part("late.bin", 80_000, 80_000)},
		{"create at the end", false, upload("notes", "g.txt", 20)},
		{"delete the user", false, withID("member", func(ctx context.Context, w *stores, id string) error {
			return last(w.svc.Users.Delete(ctx, w.admin, id, core.Match{}))
		})},
		{"close", false, func(_ context.Context, w *stores) error { return w.close() }},
	}
}

// open opens the stores as labshelf serve does.
func (w *stores) open() (err error) {
	if w.svc != nil {
		return nil
	}
	if w.store, err = bolt.Open(filepath.Join(w.dir, MetaFile), bolt.Options{}); err != nil {
		return err
	}
	if w.files, err = directory.Open(w.dir, directory.OS{}); err != nil {
		return errors.Join(err, w.store.Close())
	}
	w.flushed = make(chan error, 100)
	flushed := func(_ metadata.BodyCount, _ time.Duration, err error) { w.flushed <- err }
	w.svc = repository.New(w.store, w.files, repository.Config{
		PageSize: 100, DirectoryPageSize: 100, HoldUpTo: inlineMax, Observer: repository.Observer{Flushed: flushed},
	})
	return nil
}

// close closes the stores if they are open.
func (w *stores) close() error {
	if w.svc == nil {
		return nil
	}
	if err := w.unblockFlush(); err != nil {
		return err
	}
	w.svc.Close()
	w.svc = nil
	return w.store.Close()
}

func last[T any](_ T, err error) error { return err }

// bootstrap creates the first user. It does not use the user's key, because the use of a key is
// recorded at a later time.
func bootstrap(ctx context.Context, w *stores) error {
	if _, err := w.svc.Users.Bootstrap(ctx, ""); err != nil {
		return err
	}
	return w.store.View(ctx, func(tx *metadata.Tx) error {
		return each(tx.Users.All(metadata.ID{}), func(u metadata.User) error {
			w.admin = auth.Principal{UserID: u.ID, Username: u.Username}
			return nil
		})
	})
}

func dataspace(name string) func(context.Context, *stores) error {
	return func(ctx context.Context, w *stores) error {
		d, err := w.svc.Dataspaces.Create(ctx, w.admin, containers.NewDataspace{Name: name})
		w.ids[name] = d.ID.String()
		return err
	}
}

func set(name, in string) func(context.Context, *stores) error {
	return func(ctx context.Context, w *stores) error {
		s, err := w.svc.Sets.Create(ctx, w.admin, containers.NewSet{Name: name, DataspaceID: w.ids[in]})
		w.ids[name] = s.ID.String()
		return err
	}
}

// Body returns the content of the script's files of the given size.
func Body(size int) []byte {
	body := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(size), byte(size >> 8), byte(size >> 16)}).Read(body) // never fails
	return body
}

func upload(into, name string, size int) func(context.Context, *stores) error {
	return func(ctx context.Context, w *stores) error {
		in := w.ids[into]
		return w.send(ctx, size, func(up *files.Upload) (err error) {
			r, err := up.Create(ctx, files.UploadFields{SetID: &in, Name: &name})
			w.ids[name] = r.ID.String()
			return err
		})
	}
}

func replace(name string, size int) func(context.Context, *stores) error {
	return func(ctx context.Context, w *stores) error {
		return w.send(ctx, size, func(up *files.Upload) error {
			return last(up.Replace(ctx, w.ids[name], files.UploadFields{Name: &name}))
		})
	}
}

func (w *stores) send(ctx context.Context, size int, end func(*files.Upload) error) (err error) {
	up := w.svc.Uploads.NewUpload(w.admin)
	defer func() { _ = up.Discard() }() // like the gateway, which only logs the error
	if err := up.Receive(ctx, bytes.NewReader(Body(size))); err != nil {
		return err
	}
	return end(up)
}

func withID(name string, do func(ctx context.Context, w *stores, id string) error) func(context.Context, *stores) error {
	return func(ctx context.Context, w *stores) error { return do(ctx, w, w.ids[name]) }
}

func edit(name string, fields files.Fields) func(context.Context, *stores) error {
	return withID(name, func(ctx context.Context, w *stores, id string) error {
		return last(w.svc.Files.Edit(ctx, w.admin, id, fields, core.Match{}))
	})
}

// fill creates many resources with the same body in one commit, as an importer would. It returns
// errors with the codes of a use case.
func fill(ctx context.Context, w *stores) error {
	err := fillStore(ctx, w)
	for sentinel, code := range map[error]errs.Code{
		metadata.ErrOutcomeUnknown: errs.CodeOutcomeUnknown, metadata.ErrReadOnly: errs.CodeReadOnly,
		metadata.ErrNoSpace: errs.CodeNoSpace, metadata.ErrUnwritable: errs.CodeUnavailable,
	} {
		if errors.Is(err, sentinel) {
			return &errs.Error{Code: code, Err: err}
		}
	}
	return err
}

func fillStore(ctx context.Context, w *stores) error {
	return w.store.Update(ctx, func(tx *metadata.Tx) error {
		set, err := byName(tx.Sets.ByName, tx.Sets.Get, "many")
		if err != nil {
			return err
		}
		var body blobs.Blob
		for b, err := range tx.Blobs.All(blobs.Digest{}) {
			if err != nil {
				return err
			}
			if b.Size == 301 {
				body = b
			}
		}
		counters := metadata.Counters{ActiveFiles: many, ActiveBytes: many * body.Size}
		for i := range many {
			stamp := tx.Stamp()
			r := metadata.Resource{
				Record: metadata.Record{
					ID: metadata.NewID(stamp), State: metadata.Active, Created: stamp, Modified: stamp,
					CreatedBy: w.admin.UserID, ModifiedBy: w.admin.UserID,
				},
				SetID: set.ID, DataspaceID: set.DataspaceID, Name: fmt.Sprintf("%03d.txt", i), MimeType: "text/plain",
				Digest: body.Digest, Bytes: body.Size,
			}
			if err := tx.Resources.Put(r); err != nil {
				return err
			}
			if i == many-1 {
				used, err := tx.UserUsage.Get(w.admin.UserID)
				if err = errs.Ignore(err, metadata.ErrNotFound); err != nil {
					return err
				}
				used = metadata.UserUsage{UserID: w.admin.UserID, Bytes: used.Bytes + counters.Bytes()}
				return errors.Join(tx.Usage.Put(set.DataspaceID, stamp.Day(), counters), tx.UserUsage.Put(used))
			}
		}
		return nil
	})
}

func byName[T any](find func(string) (metadata.ID, error), get func(metadata.ID) (T, error), name string) (row T, err error) {
	id, err := find(name)
	if err != nil {
		return row, err
	}
	return get(id)
}

func purge(options maintenance.PurgeOptions) func(context.Context, *stores) error {
	return func(ctx context.Context, w *stores) error {
		// A clock that is ahead makes all objects old enough.
		options.Now = func() time.Time { return time.Now().Add(time.Minute) }
		upkeep, err := w.svc.Monitor.Upkeep(ctx, w.admin)
		if err != nil {
			return err
		}
		return last(upkeep.Purge(ctx, options))
	}
}

func snapshot(ctx context.Context, w *stores) error {
	upkeep, err := w.svc.Monitor.Upkeep(ctx, w.admin)
	if err != nil {
		return err
	}
	s, err := upkeep.Snapshot(ctx)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, s)
	return errors.Join(err, s.Close())
}
