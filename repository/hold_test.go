package repository_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/repository"
)

// TestReceive has bodies come in pieces, fail, and end at the limits.
func TestReceive(t *testing.T) {
	t.Parallel()
	config := repository.Config{PageSize: 1000, DirectoryPageSize: 1000, HoldUpTo: 10, MaxUpload: 12}
	k := newKept(t, config, 0)
	id, name := k.sets[0].ID.String(), "file"
	for _, tc := range []struct {
		size int
		body metadata.Body
		code errs.Code
	}{
		{0, metadata.Held, ""}, {10, metadata.Held, ""}, {11, metadata.Filed, ""}, {12, metadata.Filed, ""}, {13, 0, errs.CodeTooLarge},
	} {
		content := bytes.Repeat([]byte("x"), tc.size)
		for way, body := range map[string]io.Reader{
			"whole": bytes.NewReader(content), "byte by byte": iotest.OneByteReader(bytes.NewReader(content)),
			"end with the last byte": iotest.DataErrReader(bytes.NewReader(content)),
		} {
			up := k.svc.NewUpload(k.admin)
			err := up.Receive(t.Context(), body)
			if tc.code != "" {
				k.refused(err, tc.code)
				k.ok(up.Discard())
				continue
			}
			k.ok(err)
			r, err := up.Create(t.Context(), repository.UploadFields{SetID: &id, Name: &name})
			k.ok(errors.Join(err, up.Discard()))
			if r.Body != tc.body || r.Bytes != int64(tc.size) {
				t.Errorf("%d bytes, %s: body %d of %d bytes", tc.size, way, r.Body, r.Bytes)
			}
			k.wantContent(way, r, string(content))
		}
	}
	broken := errors.New("broken")
	up := k.svc.NewUpload(k.admin)
	if err := up.Receive(t.Context(), io.MultiReader(strings.NewReader("x"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("a body that fails: %v", err)
	}
	k.ok(up.Discard())
}

// TestDamagedHeldBody: a body of another digest is never moved, and does not keep the others; a check names it.
func TestDamagedHeldBody(t *testing.T) {
	t.Parallel()
	k, _ := newHolding(t, "first", "second", "third", "last")
	change := func(n int, body string) {
		of := metadata.BodyKey{Resource: k.held.files[n].ID}
		k.ok(k.meta.Update(t.Context(), func(tx *metadata.Tx) error { return tx.Bodies.Put(of, []byte(body)) }))
	}
	change(0, "FIRST")
	change(2, "thir")
	k.ok(k.meta.Update(t.Context(), func(tx *metadata.Tx) error {
		return tx.Bodies.Remove(metadata.BodyKey{Resource: k.held.files[3].ID})
	}))
	if err := k.svc.MoveHeld(t.Context()); !errors.Is(err, metadata.ErrRecordDamaged) {
		t.Errorf("move: %v", err)
	}
	k.wantBodies("after the move", 2, 9)
	k.wantContent("another", k.held.files[1], "second")
	for _, n := range []int{2, 3} {
		_, err := k.content(k.held.files[n].ID)
		k.refused(err, errs.CodeDataDamaged)
	}
	found, _ := k.check(k.upkeep, repository.CheckOptions{})
	if len(found) != 3 {
		t.Errorf("found %v", found)
	}
	for _, v := range found {
		if v.Part != metadata.PartRules || v.Kind != "resource" {
			t.Errorf("found %v", v)
		}
	}
	replaced := k.replace(k.held.files[0], "new") // what a client can do about it
	change(2, "third")
	change(3, "last")
	k.move()
	k.wantContent("when all is well again", replaced, "new")
}

// TestStrayHeldBody: a check names what is held for nobody.
func TestStrayHeldBody(t *testing.T) {
	t.Parallel()
	k, _ := newHolding(t, "a")
	for _, of := range []metadata.BodyKey{{Resource: metadata.ID{1}}, {Resource: k.held.files[0].ID, Version: 7}} {
		k.ok(k.meta.Update(t.Context(), func(tx *metadata.Tx) error { return tx.Bodies.Put(of, []byte("x")) }))
		found, _ := k.check(k.upkeep, repository.CheckOptions{})
		if len(found) != 1 || found[0].Kind != "body" || found[0].Part != metadata.PartRules {
			t.Errorf("found %v", found)
		}
		k.ok(k.meta.Update(t.Context(), func(tx *metadata.Tx) error { return tx.Bodies.Remove(of) }))
	}
}
