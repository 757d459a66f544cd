package repository_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
)

// versions returns the numbers and contents of all versions of a resource, as listed.
func (k *inlineDisk) versions(id metadata.ID) (all []string) {
	k.T.Helper()
	req := core.ListRequest{Container: id.String(), Selection: paging.Selection{Limit: 2}}
	for {
		page, err := k.Service.Versions.List(k.T.Context(), k.Admin, req)
		k.OK(err)
		if len(page.Items) == 0 {
			return all
		}
		for _, v := range page.Items {
			content, err := k.version(id, int(v.Number)+1)
			k.OK(err)
			all = append(all, fmt.Sprint(v.Number+1, " ", content))
		}
		req = core.ListRequest{Container: id.String(), Token: page.Next}
	}
}

// version reads the file of a version.
func (k *inlineDisk) version(id metadata.ID, number int) (string, error) {
	_, file, err := k.Service.Versions.Open(k.T.Context(), k.Admin, id.String(), fmt.Sprint(number))
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(file)
	return string(content), errors.Join(err, file.Close())
}

func (k *inlineDisk) wantVersions(when string, id metadata.ID, want ...string) {
	k.T.Helper()
	if got := k.versions(id); strings.Join(got, ", ") != strings.Join(want, ", ") {
		k.T.Errorf("%s: versions are %q, want %q", when, got, want)
	}
}

// TestVersions: a former version is kept under its number, byte for byte, whether it is inline, a
// file, or flushed to a file.
func TestVersions(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("l", 11)
	k, _ := newInline(t, "one", "other")
	first := k.Resources[0]
	k.wantVersions("at first", first.ID, "1 one")
	k.Replace(first, long)
	k.Replace(first, "three")
	last := k.Replace(first, "three")
	want := []string{"4 three", "3 three", "2 " + long, "1 one"}
	k.wantVersions("inline", first.ID, want...)
	k.Sound()
	k.flush()
	k.wantBodies("flushed", 0, 0)
	k.wantVersions("flushed", first.ID, want...)
	k.wantVersions("of another one", k.Resources[1].ID, "1 other")
	k.Sound()

	v, err := k.Service.Versions.Get(t.Context(), k.Admin, first.ID.String(), "1")
	k.OK(err)
	second, err := k.Service.Versions.Get(t.Context(), k.Admin, first.ID.String(), "2")
	k.OK(err)
	if v.Name != "one" || v.Filename != first.Filename || v.Digest != first.Digest || v.Created != first.Created || v.CreatedBy != k.Admin.UserID ||
		v.Replaced != second.Created || v.Replaced <= v.Created || second.Name != "file" || v.Present() {
		t.Errorf("versions %+v and %+v of %+v", v, second, first)
	}
	present, err := k.Service.Versions.Get(t.Context(), k.Admin, first.ID.String(), "4")
	if k.OK(err); !present.Present() || present.Created != last.Modified {
		t.Errorf("the present version is %+v", present)
	}
	for number, code := range map[string]errs.Code{"5": errs.CodeVersionNotFound, "0": errs.CodeVersionNotFound, "01": errs.CodeVersionNotFound,
		"-1": errs.CodeVersionNotFound, "4294967297": errs.CodeVersionNotFound, "": errs.CodeVersionNotFound, "one": errs.CodeVersionNotFound} {
		_, err := k.Service.Versions.Get(t.Context(), k.Admin, first.ID.String(), number)
		k.Refused(err, code)
	}
	if u := k.usage(); u.OldVersions != 3 || u.OldBytes != 3+11+5 || u.ActiveFiles != 2 {
		t.Errorf("usage %+v", u)
	}
}

func (k *inlineDisk) usage() metadata.Counters {
	k.T.Helper()
	u, err := k.Service.Dataspaces.DataspaceUsage(k.T.Context(), k.Admin, k.Space.ID.String())
	k.OK(err)
	return u.Counters
}

// TestVersionsOfOlderProgram: versions that an older program replaced are reported as unknown.
func TestVersionsOfOlderProgram(t *testing.T) {
	t.Parallel()
	k, _ := newInline(t, "one")
	r := k.Resources[0]
	k.OK(k.Meta.Update(t.Context(), func(tx *metadata.Tx) error {
		before := r
		r.Version = 2
		return errors.Join(tx.InlineBodies.Remove(before.VersionKey()), tx.Resources.Put(r), tx.InlineBodies.Put(r.VersionKey(), []byte("one")))
	}))
	k.wantVersions("before a replacement", r.ID, "3 one")
	replaced := k.Replace(r, "two")
	k.wantVersions("after it", r.ID, "4 two", "3 one")
	if v, err := k.Service.Versions.Get(t.Context(), k.Admin, r.ID.String(), "3"); err != nil || v.Created != r.Modified || v.Replaced != replaced.Modified {
		t.Errorf("version 3: %+v, %v", v, err)
	}
	for _, number := range []string{"1", "2"} {
		_, err := k.Service.Versions.Get(t.Context(), k.Admin, r.ID.String(), number)
		k.Refused(err, errs.CodeVersionUnkept)
		_, err = k.Service.Versions.Restore(t.Context(), k.Admin, r.ID.String(), number, repositorytest.Always)
		k.Refused(err, errs.CodeVersionUnkept)
	}
}

// TestRestoreVersion: restoring a version creates a new version with all its fields. Repeating the
// request changes nothing.
func TestRestoreVersion(t *testing.T) {
	t.Parallel()
	for _, flushed := range []bool{false, true} {
		k, _ := newInline(t, "one")
		r := k.Resources[0]
		k.Replace(r, "two")
		third := k.Replace(r, strings.Repeat("l", 11))
		if flushed {
			k.flush()
		}
		restore := func(number string, match core.Match) (metadata.Resource, error) {
			return k.Service.Versions.Restore(t.Context(), k.Admin, r.ID.String(), number, match)
		}
		_, err := restore("1", core.MatchTag(r.Tag()))
		k.Refused(err, errs.CodePrecondition)
		restored, err := restore("1", core.MatchTag(third.Tag()))
		k.OK(err)
		if restored.ID != r.ID || restored.Version != 3 || restored.Digest != r.Digest || restored.Name != "one" || restored.Modified <= third.Modified {
			t.Errorf("restored %+v", restored)
		}
		for range 2 {
			again, err := restore("1", repositorytest.Always)
			if k.OK(err); again.Tag() != restored.Tag() {
				t.Errorf("once more: %+v", again)
			}
		}
		if again, err := restore("4", repositorytest.Always); err != nil || again.Tag() != restored.Tag() {
			t.Errorf("the present version: %+v, %v", again, err)
		}
		k.wantVersions("restored", r.ID, "4 one", "3 "+strings.Repeat("l", 11), "2 two", "1 one")
		if flushed {
			k.wantBodies("a flushed one", 0, 0)
			entries := 0
			k.OK(k.Blobs.Walk(t.Context(), func(blobs.Digest, int64) error { entries++; return nil }))
			if entries != 3 {
				t.Errorf("%d files of 3 contents", entries)
			}
		}
		k.flush()
		k.wantVersions("flushed", r.ID, "4 one", "3 "+strings.Repeat("l", 11), "2 two", "1 one")
		k.Sound()
	}
}

// TestRestoreDamagedVersion: a damaged version cannot replace an intact file.
func TestRestoreDamagedVersion(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("l", 11)
	k, _ := newInline(t, long)
	r := k.Resources[0]
	k.Replace(r, "sound")
	k.OK(os.Remove(k.Path(r.Digest)))
	_, err := k.version(r.ID, 1)
	k.Refused(err, errs.CodeDataDamaged)
	v, err := k.Service.Versions.Get(t.Context(), k.Admin, r.ID.String(), "1")
	if k.OK(err); !v.Damaged {
		t.Error("the version is not reported as damaged")
	}
	_, err = k.Service.Versions.Restore(t.Context(), k.Admin, r.ID.String(), "1", repositorytest.Always)
	k.Refused(err, errs.CodeDataDamaged)
	found, _ := k.Check(k.Upkeep, maintenance.CheckOptions{})
	if len(found) != 1 || found[0].Kind != "version" || found[0].ID != r.ID.String() || !strings.Contains(found[0].Wrong, "version 1,") {
		t.Errorf("a check finds %v", found)
	}
	k.Upload(k.Sets[0], long) // repairs it
	if got, err := k.version(r.ID, 1); err != nil || got != long {
		t.Errorf("healed: %q, %v", got, err)
	}
}

// TestLabelVersion: a label changes neither Modified nor the tag, and stays with its version.
func TestLabelVersion(t *testing.T) {
	t.Parallel()
	k, _ := newInline(t, "one")
	r := k.Resources[0]
	label := func(number, text string) error {
		v, err := k.Service.Versions.Label(t.Context(), k.Admin, r.ID.String(), number, files.VersionFields{Label: new(text)}, repositorytest.Always)
		if err == nil && v.Label != text {
			t.Errorf("labelled %+v", v)
		}
		return err
	}
	wantLabels := func(want ...string) {
		t.Helper()
		page, err := k.Service.Versions.List(t.Context(), k.Admin, core.ListRequest{Container: r.ID.String()})
		k.OK(err)
		var got []string
		for _, v := range page.Items {
			got = append(got, v.Label)
		}
		if strings.Join(got, ",") != strings.Join(want, ",") {
			t.Errorf("labels %q, want %q", got, want)
		}
	}
	k.OK(label("1", "as published"))
	if now := k.Get(r.ID); now.Tag() != r.Tag() || now.Modified != r.Modified {
		t.Errorf("labelled: %+v, before %+v", now, r)
	}
	second := k.Replace(r, "two")
	wantLabels("", "as published")
	k.OK(label("1", "as sent"))
	wantLabels("", "as sent")
	if now := k.Get(r.ID); now.Tag() != second.Tag() {
		t.Errorf("labelled: %+v, before %+v", now, second)
	}
	_, err := k.Service.Versions.Restore(t.Context(), k.Admin, r.ID.String(), "1", repositorytest.Always)
	k.OK(err)
	wantLabels("", "", "as sent")
	k.OK(label("1", ""))
	wantLabels("", "", "")
	for _, text := range []string{strings.Repeat("x", 101), "a\nb"} {
		_, err := k.Service.Versions.Label(t.Context(), k.Admin, r.ID.String(), "1", files.VersionFields{Label: &text}, repositorytest.Always)
		k.Refused(err, errs.CodeInvalidField)
	}
	_, err = k.Service.Versions.Label(t.Context(), k.Admin, r.ID.String(), "1", files.VersionFields{}, repositorytest.Always)
	k.Refused(err, errs.CodeMissingField)
}

// TestVersionsOfDeleted: versions are hidden while the resource is deleted, and return with it.
func TestVersionsOfDeleted(t *testing.T) {
	t.Parallel()
	k, _ := newInline(t, "one")
	r, ctx := k.Resources[0], t.Context()
	k.Replace(r, "two")
	for _, transition := range []struct{ delete, restore func() error }{
		{
			func() error { k.Delete(r); return nil },
			func() error {
				_, err := k.Service.Files.Restore(ctx, k.Admin, r.ID.String(), repositorytest.Always)
				return err
			},
		},
		{
			func() error {
				_, err := k.Service.Sets.Delete(ctx, k.Admin, k.Sets[0].ID.String(), repositorytest.Always)
				return err
			},
			func() error {
				_, err := k.Service.Sets.Restore(ctx, k.Admin, k.Sets[0].ID.String(), repositorytest.Always)
				return err
			},
		},
	} {
		k.OK(transition.delete())
		_, err := k.Service.Versions.List(ctx, k.Admin, core.ListRequest{Container: r.ID.String()})
		k.Refused(err, errs.CodeResourceGone)
		_, err = k.Service.Versions.Get(ctx, k.Admin, r.ID.String(), "1")
		k.Refused(err, errs.CodeResourceGone)
		_, err = k.version(r.ID, 1)
		k.Refused(err, errs.CodeResourceGone)
		_, err = k.Service.Versions.Restore(ctx, k.Admin, r.ID.String(), "1", repositorytest.Always)
		k.Refused(err, errs.CodeResourceGone)
		_, err = k.Service.Versions.Label(ctx, k.Admin, r.ID.String(), "1", files.VersionFields{Label: new("x")}, repositorytest.Always)
		k.Refused(err, errs.CodeResourceGone)
		k.OK(transition.restore())
		k.wantVersions("restored", r.ID, "2 two", "1 one")
	}
}

// TestVersionPermissions: a member reads versions; only an editor restores and labels; only a
// sysadmin erases.
func TestVersionPermissions(t *testing.T) {
	t.Parallel()
	k, _ := newInline(t, "one")
	id, ctx := k.Resources[0].ID.String(), t.Context()
	k.Replace(k.Resources[0], "two")
	user, err := k.Service.Users.Create(ctx, k.Admin, containers.NewUser{Username: "user"})
	k.OK(err)
	caller := auth.Principal{UserID: user.ID, Username: user.Username}
	for _, role := range []string{"", "member", "editor", "admin"} {
		if role != "" {
			_, _, err := k.Service.Users.Grant(ctx, k.Admin, containers.NewPrivilege{UserID: user.ID.String(), DataspaceID: k.Space.ID.String(), Role: repositorytest.RoleOf(role)})
			k.OK(err)
		}
		allowed := map[string]bool{"read": role != "", "write": role == "editor" || role == "admin", "erase": false}
		for of, try := range map[string]func() error{
			"read list": func() error {
				_, err := k.Service.Versions.List(ctx, caller, core.ListRequest{Container: id})
				return err
			},
			"read record": func() error { _, err := k.Service.Versions.Get(ctx, caller, id, "1"); return err },
			"read file": func() error {
				_, file, err := k.Service.Versions.Open(ctx, caller, id, "1")
				if err == nil {
					err = file.Close()
				}
				return err
			},
			"write restored": func() error {
				_, err := k.Service.Versions.Restore(ctx, caller, id, "1", repositorytest.Always)
				return err
			},
			"write label": func() error {
				_, err := k.Service.Versions.Label(ctx, caller, id, "1", files.VersionFields{Label: new("x")}, repositorytest.Always)
				return err
			},
			"erase": func() error { _, _, err := k.Service.Versions.Erase(ctx, caller, id, "1"); return err },
		} {
			kind, _, _ := strings.Cut(of, " ")
			if err := try(); allowed[kind] && err != nil {
				t.Errorf("%s as %q: %v", of, role, err)
			} else if !allowed[kind] {
				k.Refused(err, errs.CodeForbidden)
			}
		}
	}
}

// TestRetentionField: the retention is a string in one form.
func TestRetentionField(t *testing.T) {
	t.Parallel()
	k, _ := newInline(t)
	set := func(text string) (d metadata.Dataspace, err error) {
		kept, err := containers.ParseRetention(text)
		if err != nil {
			return d, err
		}
		return k.Service.Dataspaces.Update(t.Context(), k.Admin, k.Space.ID.String(), containers.DataspaceFields{Retention: &kept}, core.Match{})
	}
	for text, want := range map[string]metadata.Retention{
		"last 1": {Last: 1}, "last 1000000": {Last: 1_000_000}, "1 days": {Days: 1}, "36500 days": {Days: 36_500}, "everything": {},
	} {
		d, err := set(text)
		if k.OK(err); d.Retention != want || d.Retention.String() != text {
			t.Errorf("%s: %+v", text, d.Retention)
		}
	}
	for _, text := range []string{"", "last 0", "last -1", "last 1000001", "last 01", "0 days", "36501 days", "all", "last 1 days", "last  1", "5"} {
		_, err := set(text)
		k.Refused(err, errs.CodeInvalidField)
	}
	for _, kept := range []metadata.Retention{{Last: 1_000_001}, {Days: 36_501}} {
		_, err := k.Service.Dataspaces.Update(t.Context(), k.Admin, k.Space.ID.String(), containers.DataspaceFields{Retention: &kept}, core.Match{})
		k.Refused(err, errs.CodeInvalidField)
	}
}
