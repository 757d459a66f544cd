package repository_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
)

// TestReceive receives bodies in several reads, bodies that fail, and bodies that end at the
// limits.
func TestReceive(t *testing.T) {
	t.Parallel()
	config := repository.Config{PageSize: 1000, DirectoryPageSize: 1000, HoldUpTo: 10, MaxUpload: 12}
	k := &inlineDisk{repositorytest.NewDisk(t, config, 0)}
	id, name := k.Sets[0].ID.String(), "file"
	for _, tc := range []struct {
		size int
		body metadata.BodyLocation
		code errs.Code
	}{
		{0, metadata.Inline, ""}, {10, metadata.Inline, ""}, {11, metadata.InBlob, ""}, {12, metadata.InBlob, ""}, {13, 0, errs.CodeTooLarge},
	} {
		content := bytes.Repeat([]byte("x"), tc.size)
		for way, body := range map[string]io.Reader{
			"whole": bytes.NewReader(content), "byte by byte": iotest.OneByteReader(bytes.NewReader(content)),
			"end with the last byte": iotest.DataErrReader(bytes.NewReader(content)),
		} {
			up := k.Service.Uploads.NewUpload(k.Admin)
			err := up.Receive(t.Context(), body)
			if tc.code != "" {
				k.Refused(err, tc.code)
				k.OK(up.Discard())
				continue
			}
			k.OK(err)
			r, err := up.Create(t.Context(), files.UploadFields{SetID: &id, Name: &name})
			k.OK(errors.Join(err, up.Discard()))
			if r.Body != tc.body || r.Bytes != int64(tc.size) {
				t.Errorf("%d bytes, %s: body %d of %d bytes", tc.size, way, r.Body, r.Bytes)
			}
			k.wantContent(way, r, string(content))
		}
	}
	broken := errors.New("broken")
	up := k.Service.Uploads.NewUpload(k.Admin)
	if err := up.Receive(t.Context(), io.MultiReader(strings.NewReader("x"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("a failing body: %v", err)
	}
	k.OK(up.Discard())
}

// TestDamagedInlineBody: a body with a wrong digest is never flushed, does not block the others,
// and is reported by a check.
func TestDamagedInlineBody(t *testing.T) {
	t.Parallel()
	k, _ := newInline(t, "first", "second", "third", "last")
	change := func(n int, body string) {
		of := metadata.VersionKey{Resource: k.Resources[n].ID}
		k.OK(k.Meta.Update(t.Context(), func(tx *metadata.Tx) error { return tx.InlineBodies.Put(of, []byte(body)) }))
	}
	change(0, "FIRST")
	change(2, "thir")
	k.OK(k.Meta.Update(t.Context(), func(tx *metadata.Tx) error {
		return tx.InlineBodies.Remove(metadata.VersionKey{Resource: k.Resources[3].ID})
	}))
	if err := k.Service.FlushInline(t.Context()); !errors.Is(err, metadata.ErrRecordDamaged) {
		t.Errorf("flush: %v", err)
	}
	k.wantBodies("after the move", 2, 9)
	k.wantContent("another", k.Resources[1], "second")
	for _, n := range []int{2, 3} {
		_, err := k.Content(k.Resources[n].ID)
		k.Refused(err, errs.CodeDataDamaged)
	}
	found, _ := k.Check(k.Upkeep, maintenance.CheckOptions{})
	if len(found) != 3 {
		t.Errorf("found %v", found)
	}
	for _, v := range found {
		if v.Part != metadata.PartRules || v.Kind != "resource" {
			t.Errorf("found %v", v)
		}
	}
	replaced := k.Replace(k.Resources[0], "new") // the remedy that a client has
	change(0, "first")                           // of the former version
	change(2, "third")
	change(3, "last")
	k.flush()
	k.wantContent("when all is well again", replaced, "new")
}

// TestStrayInlineBody: a check reports inline bodies that nothing needs.
func TestStrayInlineBody(t *testing.T) {
	t.Parallel()
	k, _ := newInline(t, "a")
	for _, of := range []metadata.VersionKey{{Resource: metadata.ID{1}}, {Resource: k.Resources[0].ID, Version: 7}} {
		k.OK(k.Meta.Update(t.Context(), func(tx *metadata.Tx) error { return tx.InlineBodies.Put(of, []byte("x")) }))
		found, _ := k.Check(k.Upkeep, maintenance.CheckOptions{})
		if len(found) != 1 || found[0].Kind != "body" || found[0].Part != metadata.PartRules {
			t.Errorf("found %v", found)
		}
		k.OK(k.Meta.Update(t.Context(), func(tx *metadata.Tx) error { return tx.InlineBodies.Remove(of) }))
	}
}
