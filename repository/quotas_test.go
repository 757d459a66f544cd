package repository_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
	"labshelf/repository/resumable"
)

// rationed is a repository with an editor, for tests that set quotas.
type rationed struct {
	*repositorytest.Disk
	editor auth.Principal
}

func newRationed(t *testing.T, config repository.Config) *rationed {
	w := &rationed{Disk: repositorytest.NewDisk(t, config, 0)}
	w.editor = w.newEditor("anna")
	return w
}

func (w *rationed) newEditor(name string) auth.Principal {
	w.T.Helper()
	u, err := w.Service.Users.Create(w.T.Context(), w.Admin, containers.NewUser{Username: name})
	w.OK(err)
	_, key, err := w.Service.Users.CreateKey(w.T.Context(), w.Admin, u.ID.String(), containers.KeyFields{})
	w.OK(err)
	_, _, err = w.Service.Users.Grant(w.T.Context(), w.Admin, containers.NewPrivilege{UserID: u.ID.String(), DataspaceID: w.Space.ID.String(), Role: auth.Editor})
	w.OK(err)
	p, err := w.Service.Credentials.Authenticate(w.T.Context(), key, auth.Origin{})
	w.OK(err)
	return p
}

func quotaOf(bytes int64) containers.DataspaceFields {
	return containers.DataspaceFields{Quota: &bytes}
}

func (w *rationed) limitSpace(bytes int64) {
	w.T.Helper()
	_, err := w.Service.Dataspaces.Update(w.T.Context(), w.Admin, w.Space.ID.String(), quotaOf(bytes), core.Match{})
	w.OK(err)
}

func (w *rationed) limitUser(p auth.Principal, bytes int64) {
	w.T.Helper()
	_, err := w.Service.Users.Update(w.T.Context(), w.Admin, p.UserID.String(), containers.UserFields{Quota: &bytes}, core.Match{})
	w.OK(err)
}

// put uploads size bytes like a form. least is the announced length.
func (w *rationed) put(p auth.Principal, size int, least int64) (metadata.Resource, error) {
	return w.putBody(p, bytes.NewReader(make([]byte, size)), least)
}

func (w *rationed) putBody(p auth.Principal, body io.Reader, least int64) (r metadata.Resource, err error) {
	up, set, name := w.Service.Uploads.NewUpload(p), w.Sets[0].ID.String(), "file"
	defer func() { err = errors.Join(err, up.Discard()) }()
	ctx := w.T.Context()
	if err := errors.Join(up.Into(ctx, set), up.RoomFor(least)); err != nil {
		return r, err
	}
	if err := up.Receive(ctx, body); err != nil {
		return r, err
	}
	return up.Create(ctx, files.UploadFields{SetID: &set, Name: &name})
}

func (w *rationed) replace(p auth.Principal, r metadata.Resource, size int) (metadata.Resource, error) {
	up := w.Service.Uploads.NewUpload(p)
	defer func() { w.OK(up.Discard()) }()
	if err := up.Receive(w.T.Context(), bytes.NewReader(make([]byte, size))); err != nil {
		return r, err
	}
	return up.Replace(w.T.Context(), r.ID.String(), files.UploadFields{Filename: "file"})
}

// begin begins a resumable upload.
func (w *rationed) begin(p auth.Principal, length int64) (metadata.ResumableUpload, error) {
	set, name := w.Sets[0].ID.String(), "file"
	return w.Service.Uploads.Create(w.T.Context(), p, files.UploadStart{Length: length, Fields: files.UploadFields{SetID: &set, Name: &name, Names: files.ResumableUploadNames()}})
}

// send sends all of a resumable upload.
func (w *rationed) send(p auth.Principal, t metadata.ResumableUpload) error {
	_, err := w.Service.Uploads.Chunks.Append(w.T.Context(), p, t.ID.String(), resumable.Chunk{Length: -1, Body: bytes.NewReader(make([]byte, t.Length)), Stop: func() {}})
	return err
}

// full fails the test unless err reports an exceeded quota, with these words in its message.
func (w *rationed) full(what string, err error, words ...string) {
	w.T.Helper()
	var known *errs.Error
	if !errors.As(err, &known) || known.Kind != errs.NoSpace || known.Code != errs.CodeQuotaExceeded {
		w.T.Errorf("%s: %v", what, err)
		return
	}
	for _, word := range words {
		if !strings.Contains(known.Message, word) {
			w.T.Errorf("%s: %q is not in %q", what, word, known.Message)
		}
	}
}

func (w *rationed) fits(what string, err error) {
	w.T.Helper()
	if err != nil {
		w.T.Errorf("%s: %v", what, err)
	}
}

func (w *rationed) used() int64 {
	w.T.Helper()
	u, err := w.Service.Dataspaces.DataspaceUsage(w.T.Context(), w.Admin, w.Space.ID.String())
	w.OK(err)
	return u.Bytes()
}

// unreserved fails the test if any bytes are reserved.
func (w *rationed) unreserved() {
	w.T.Helper()
	for _, of := range []metadata.ID{w.Space.ID, w.Admin.UserID, w.editor.UserID} {
		if n := w.Service.Reserved(of); n != 0 {
			w.T.Errorf("%d bytes stay reserved", n)
		}
	}
}

// TestQuotaOfDataspace: all versions count to the byte until they are purged. Changes that add no
// bytes are never refused.
func TestQuotaOfDataspace(t *testing.T) {
	t.Parallel()
	w := newRationed(t, repository.Config{HoldUpTo: 100})
	ctx := t.Context()
	w.limitSpace(1000)
	first, err := w.put(w.editor, 400, 0)
	w.fits("400 of 1000", err)
	_, err = w.put(w.editor, 601, 0)
	w.full("601 more", err, "the dataspace space holds 400 bytes of 1000 bytes", "purged", "ask a sysadmin")
	_, err = w.replace(w.editor, first, 601)
	w.full("a replacement by 601", err)
	replaced, err := w.replace(w.editor, first, 599)
	w.fits("a replacement by 599", err)
	_, err = w.put(w.editor, 50, 0)
	w.full("an inline body of 50", err)
	_, err = w.Service.Versions.Restore(ctx, w.editor, first.ID.String(), "1", repositorytest.Always)
	w.full("an old version as a new one", err)
	_, err = w.put(w.editor, 1, 0)
	w.fits("the last byte", err)
	_, err = w.put(w.editor, 0, 0)
	w.fits("an empty file", err)
	deleted := w.Delete(replaced)
	_, err = w.put(w.editor, 1, 0)
	w.full("a byte, after a deletion", err)
	_, err = w.Service.Files.Restore(ctx, w.editor, deleted.ID.String(), repositorytest.Always)
	w.fits("a restoration", err)
	w.limitSpace(10)
	if w.used() != 1000 {
		t.Errorf("a lower quota removed something: %d bytes are used", w.used())
	}
	_, err = w.Service.Files.Edit(ctx, w.editor, deleted.ID.String(), files.Fields{Name: new("other")}, core.Match{})
	w.fits("another name", err)
	w.limitSpace(1000)
	w.Delete(deleted)
	w.Purge(maintenance.PurgeOptions{})
	_, err = w.put(w.editor, 999, 0)
	w.fits("999, after a purge", err)
	w.limitSpace(0)
	_, err = w.put(w.editor, 5000, 0)
	w.fits("without a quota", err)
	w.unreserved()
	w.Sound()
}

// TestQuotaOfUser: each version counts for the user who stored it, against that user's quota.
func TestQuotaOfUser(t *testing.T) {
	t.Parallel()
	w := newRationed(t, repository.Config{HoldUpTo: 100})
	w.limitUser(w.editor, 1000)
	made, err := w.put(w.editor, 800, 0)
	w.fits("800 of 1000", err)
	_, err = w.put(w.editor, 201, 0)
	w.full("201 more", err, "you hold 800 bytes of 1000 bytes")
	_, err = w.put(w.Admin, 5000, 0)
	w.fits("another user", err)
	theirs, err := w.replace(w.Admin, made, 30_000)
	w.fits("another user who replaces it", err)
	_, err = w.replace(w.editor, theirs, 201)
	w.full("a replacement of another user's version", err, "you hold 800 bytes of 1000 bytes")
	_, err = w.Service.Versions.Restore(t.Context(), w.editor, made.ID.String(), "1", repositorytest.Always)
	w.full("the restoration of one's own version", err, "800 bytes more do not fit")
	_, err = w.replace(w.editor, theirs, 150)
	w.fits("a replacement by 150", err)
	for caller, want := range map[auth.Principal]containers.Share{w.editor: {Used: 950, Quota: 1000}, w.Admin: {Used: 35_000}} {
		share, err := w.Service.Users.Usage(t.Context(), caller, "me")
		if err != nil || share != want {
			t.Errorf("the user sees %+v, %v, want %+v", share, err, want)
		}
	}
	_, err = w.Service.Users.Usage(t.Context(), w.editor, w.Admin.UserID.String())
	repositorytest.WantCode(t, err, errs.CodeForbidden)
	w.KeepLast(1)
	w.Purge(maintenance.PurgeOptions{})
	_, err = w.put(w.editor, 850, 0)
	w.fits("850, after a purge of the old version", err)
	w.unreserved()
	w.Sound()
}

// TestQuotaPermission: only sysadmins set quotas. Sending back an unchanged quota is allowed.
func TestQuotaPermission(t *testing.T) {
	t.Parallel()
	w := newRationed(t, repository.Config{UsersCreateDataspaces: true, DataspaceQuota: 500, UserQuota: 700})
	ctx := t.Context()
	share, err := w.Service.Users.Usage(ctx, w.Admin, w.newEditor("berta").UserID.String())
	if err != nil || share.Quota != 700 {
		t.Errorf("a new user has %+v, %v", share, err)
	}
	own, err := w.Service.Dataspaces.Create(ctx, w.editor, containers.NewDataspace{Name: "own", DataspaceFields: containers.DataspaceFields{Quota: new(int64(500))}})
	w.OK(err)
	if own.Quota != 500 {
		t.Errorf("a new dataspace has %d", own.Quota)
	}
	for field, f := range map[string]containers.DataspaceFields{"more": quotaOf(501), "none": quotaOf(0)} {
		_, err = w.Service.Dataspaces.Create(ctx, w.editor, containers.NewDataspace{Name: field, DataspaceFields: f})
		repositorytest.WantCode(t, err, errs.CodeForbidden)
		_, err = w.Service.Dataspaces.Update(ctx, w.editor, own.ID.String(), f, core.Match{})
		repositorytest.WantCode(t, err, errs.CodeForbidden)
		_, err = w.Service.Users.Update(ctx, w.editor, "me", containers.UserFields{Quota: f.Quota}, core.Match{})
		repositorytest.WantCode(t, err, errs.CodeForbidden)
	}
	_, err = w.Service.Dataspaces.Update(ctx, w.editor, own.ID.String(), quotaOf(500), core.Match{})
	w.fits("the quota as it is", err)
	_, err = w.Service.Dataspaces.Update(ctx, w.Admin, own.ID.String(), quotaOf(-1), core.Match{})
	repositorytest.WantCode(t, err, errs.CodeInvalidField)
	for caller, want := range map[auth.Principal]int64{w.Admin: 500, w.editor: 500, w.newEditor("carla"): 0} {
		w.OK(func() error {
			_, err := w.Service.Dataspaces.Update(ctx, w.Admin, own.ID.String(), containers.DataspaceFields{Visibility: new(metadata.Public)}, core.Match{})
			return err
		}())
		u, err := w.Service.Dataspaces.DataspaceUsage(ctx, caller, own.ID.String())
		if err != nil || u.Quota != want {
			t.Errorf("the quota is shown as %d, want %d, %v", u.Quota, want, err)
		}
	}
}

// TestQuotaOfCopies: a copy counts like an upload. The versions of a moved file count in both
// dataspaces. A refused file is not moved.
func TestQuotaOfCopies(t *testing.T) {
	t.Parallel()
	w := newRationed(t, repository.Config{HoldUpTo: 100})
	ctx := t.Context()
	other, err := w.Service.Dataspaces.Create(ctx, w.Admin, containers.NewDataspace{Name: "other", DataspaceFields: containers.DataspaceFields{Quota: new(int64(1000))}})
	w.OK(err)
	set, err := w.Service.Sets.Create(ctx, w.Admin, containers.NewSet{Name: "there", DataspaceID: other.ID.String()})
	w.OK(err)
	to := files.Destination{SetID: set.ID.String()}
	made, err := w.put(w.editor, 300, 0)
	w.OK(err)
	made, err = w.replace(w.editor, made, 400)
	w.OK(err)
	for range 2 {
		_, err = w.Service.Files.Copy(ctx, w.Admin, made.ID.String(), to)
		w.fits("a copy of 400", err)
	}
	_, err = w.Service.Files.Copy(ctx, w.Admin, made.ID.String(), to)
	w.full("a third one", err, "the dataspace other holds 800 bytes")
	_, err = w.Service.Files.Move(ctx, w.Admin, made.ID.String(), to)
	w.full("a move with 700", err)
	if kept := w.Get(made.ID); kept.State != metadata.Active {
		t.Errorf("the refused file is %s", kept.State)
	}
	_, err = w.Service.Dataspaces.Update(ctx, w.Admin, other.ID.String(), quotaOf(1500), core.Match{})
	w.OK(err)
	moved, err := w.Service.Files.Move(ctx, w.Admin, made.ID.String(), to)
	w.fits("a move with 700, exactly", err)
	if used := w.used(); used != 700 {
		t.Errorf("%d bytes still count in the source", used)
	}
	w.Sound()
	w.limitSpace(700)
	back, err := w.Service.Files.Move(ctx, w.Admin, moved.ID.String(), files.Destination{SetID: w.Sets[0].ID.String()})
	if err != nil || back.ID != made.ID {
		t.Errorf("moving back to the source: %v, %v", back.ID, err)
	}
	w.unreserved()
	w.Sound()
}
