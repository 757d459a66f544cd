package repository_test

import (
	"fmt"
	"slices"
	"strings"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/folders"
	"labshelf/repository/links"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
	"labshelf/repository/resumable"
)

// create stores a new file: with a form, on the drive, with an upload in chunks, or through a
// request link of the user.
func (w *quotaWorld) create(user, set int) quotaOperation {
	f, content, way := &storedFile{set: set, name: w.name()}, w.content(user, set), w.r.IntN(4)
	f.versions = []*storedVersion{{content: content, by: user}}
	ctx, id, p := w.T.Context(), w.sets[set].ID.String(), w.users[user]
	run := func() (err error) {
		var r metadata.Resource
		switch way {
		case 0:
			r, err = w.form(p, content, func(up *files.Upload) (metadata.Resource, error) {
				return up.Create(ctx, files.UploadFields{SetID: &id, Name: &f.name})
			})
		case 1:
			r, err = w.onDrive(p, f, content)
		case 2:
			r, err = w.inChunks(p, content, files.UploadStart{Fields: files.UploadFields{SetID: &id, Name: &f.name}})
		default:
			file := links.SentFile{Name: f.name, Length: int64(len(content)), Field: "file"}
			r, err = w.Service.Visitors.ReceiveFile(ctx, links.Visitor{Token: w.links[user][set]}, file, strings.NewReader(content))
		}
		f.id, f.name = r.ID, r.Name
		return err
	}
	return quotaOperation{
		what: fmt.Sprintf("user %d stores %d bytes in set %d, way %d", user, len(content), set, way), user: user, set: set, bytes: len(content),
		run: run, model: func() { w.files = append(w.files, f) },
	}
}

func (w *quotaWorld) form(p auth.Principal, content string, end func(*files.Upload) (metadata.Resource, error)) (metadata.Resource, error) {
	up := w.Service.Uploads.NewUpload(p)
	defer func() { w.OK(up.Discard()) }()
	if err := up.Receive(w.T.Context(), strings.NewReader(content)); err != nil {
		return metadata.Resource{}, err
	}
	return end(up)
}

func (w *quotaWorld) onDrive(p auth.Principal, f *storedFile, content string) (metadata.Resource, error) {
	at := folders.DrivePath{Dataspace: w.spaces[w.spaceOf(f.set)].Name, Set: w.sets[f.set].Name, Path: f.name}
	up := w.Service.Uploads.NewUpload(p)
	defer func() { w.OK(up.Discard()) }()
	if err := w.Service.Drive.AdmitAt(w.T.Context(), up, at, always); err != nil {
		return metadata.Resource{}, err
	}
	if err := up.Receive(w.T.Context(), strings.NewReader(content)); err != nil {
		return metadata.Resource{}, err
	}
	r, _, err := w.Service.Drive.PutAt(w.T.Context(), up, at, files.UploadFields{}, always)
	return r, err
}

func (w *quotaWorld) inChunks(p auth.Principal, content string, start files.UploadStart) (metadata.Resource, error) {
	start.Length, start.Fields.Names = int64(len(content)), files.ResumableUploadNames()
	t, err := w.Service.Uploads.Create(w.T.Context(), p, start)
	if err != nil {
		return metadata.Resource{}, err
	}
	t, err = w.Service.Uploads.Chunks.Append(w.T.Context(), p, t.ID.String(), resumable.Chunk{Length: -1, Body: strings.NewReader(content), Stop: func() {}})
	if err != nil {
		return metadata.Resource{}, err
	}
	return w.Get(t.Made), nil
}

// replaceBy replaces a file: with a form, on the drive, or with an upload in chunks.
func (w *quotaWorld) replaceBy(user int, f *storedFile) quotaOperation {
	content, way := w.content(user, f.set), w.r.IntN(3)
	ctx, p, id := w.T.Context(), w.users[user], f.id.String()
	return quotaOperation{
		what: fmt.Sprintf("user %d replaces %s by %d bytes, way %d", user, f.name, len(content), way), user: user, set: f.set, bytes: len(content),
		run: func() (err error) {
			switch way {
			case 0:
				_, err = w.form(p, content, func(up *files.Upload) (metadata.Resource, error) {
					return up.Replace(ctx, id, files.UploadFields{Name: &f.name})
				})
			case 1:
				_, err = w.onDrive(p, f, content)
			default:
				_, err = w.inChunks(p, content, files.UploadStart{ResourceID: &id, Fields: files.UploadFields{Name: &f.name}})
			}
			return err
		},
		model: func() { f.versions = append(f.versions, &storedVersion{content: content, by: user}) },
	}
}

func (w *quotaWorld) restoreVersion(user int, f *storedFile) quotaOperation {
	n := w.r.IntN(len(f.versions))
	v := f.versions[n]
	if v.gone || v == f.present() || v.content == f.present().content {
		return quotaOperation{}
	}
	return quotaOperation{
		what: fmt.Sprintf("user %d restores version %d of %s", user, n+1, f.name), user: user, set: f.set, bytes: len(v.content),
		run: func() error {
			_, err := w.Service.Versions.Restore(w.T.Context(), w.users[user], f.id.String(), fmt.Sprint(n+1), repositorytest.Always)
			if err == nil {
				_, err = w.Service.Files.Edit(w.T.Context(), w.users[user], f.id.String(), files.Fields{Name: new(f.name)}, core.Match{})
			}
			return err
		},
		model: func() { f.versions = append(f.versions, &storedVersion{content: v.content, by: user}) },
	}
}

func (w *quotaWorld) eraseVersion(f *storedFile) quotaOperation {
	n := w.r.IntN(len(f.versions))
	if f.versions[n] == f.present() {
		return quotaOperation{}
	}
	return quotaOperation{
		what: fmt.Sprintf("erase version %d of %s", n+1, f.name),
		run: func() error {
			_, _, err := w.Service.Versions.Erase(w.T.Context(), w.Admin, f.id.String(), fmt.Sprint(n+1))
			return err
		},
		model: func() { f.versions[n].gone = true },
	}
}

// copyTo copies a file to a set, or onto another file in it.
func (w *quotaWorld) copyTo(user int, f *storedFile, set int, onto *storedFile) quotaOperation {
	to := files.Destination{SetID: w.sets[set].ID.String(), Name: w.name()}
	if onto == nil || onto == f || onto.set != set {
		onto = nil
	} else {
		to.Onto = onto.id.String()
	}
	made := &storedFile{set: set, name: to.Name}
	return quotaOperation{
		what: fmt.Sprintf("user %d copies %s to set %d, onto a file: %v", user, f.name, set, onto != nil), user: user, set: set, bytes: len(f.present().content),
		run: func() error {
			r, err := w.Service.Files.Copy(w.T.Context(), w.users[user], f.id.String(), to)
			made.id = r.ID
			return err
		},
		model: func() {
			if onto == nil {
				w.files, onto = append(w.files, made), made
			}
			onto.versions = append(onto.versions, &storedVersion{content: f.present().content, by: user})
		},
	}
}

// moveTo moves a file to another set. If the file was there before, it gets its earlier record
// again.
func (w *quotaWorld) moveTo(user int, f *storedFile, set int) quotaOperation {
	if set == f.set {
		return quotaOperation{}
	}
	arrived, again := &storedFile{set: set}, false
	for _, was := range f.from {
		if was.set == set && was.deleted && !was.purged && was.movedTo == f {
			arrived, again = was, true
			break
		}
	}
	versions, bytes := slices.Clone(arrived.versions), 0
	for n, v := range f.versions {
		switch {
		case n < len(versions) && (!versions[n].gone || v.gone):
			continue
		case n >= len(versions):
			versions = append(versions, nil)
		}
		versions[n] = &storedVersion{content: v.content, by: user, gone: v.gone}
		if !v.gone {
			bytes += len(v.content)
		}
	}
	to := files.Destination{SetID: w.sets[set].ID.String(), Name: w.name()}
	return quotaOperation{
		what: fmt.Sprintf("user %d moves %s to set %d, again: %v", user, f.name, set, again), user: user, set: set, bytes: bytes,
		run: func() error {
			r, err := w.Service.Files.Move(w.T.Context(), w.users[user], f.id.String(), to)
			if err != nil {
				return err
			}
			if again && r.ID != arrived.id {
				w.T.Errorf("%s has not got its earlier record again", f.name)
			}
			arrived.id = r.ID
			return nil
		},
		model: func() {
			if !again {
				w.files = append(w.files, arrived)
			}
			arrived.versions, arrived.name, arrived.deleted, arrived.movedTo = versions, to.Name, false, nil
			arrived.from = append([]*storedFile{f}, arrived.from...)
			f.deleted, f.movedTo = true, arrived
		},
	}
}

// purge purges deleted files, and in the first dataspace all but two versions of each file.
func (w *quotaWorld) purge() quotaOperation {
	return quotaOperation{what: "purge", run: func() error { w.Purge(maintenance.PurgeOptions{}); return nil }, model: func() {
		for _, f := range w.files {
			f.purged = f.purged || f.deleted
			for n, v := range f.versions {
				v.gone = v.gone || f.purged || w.spaceOf(f.set) == 0 && len(f.versions)-1-n >= 2
			}
		}
	}}
}
