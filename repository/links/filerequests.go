package links

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"path"
	"slices"
	"strings"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/resumable"
)

// SentFile describes a file sent through a request link.
type SentFile struct {
	Name        string // may include folders
	ContentType string // as sent; "" if unknown
	Length      int64  // in bytes; negative if unknown
	Expected    []blobs.Digest
	Field       string // the request's field with the name
}

// fileRequest implements files.Sender for a file sent through a request link.
type fileRequest struct {
	service *Visitors
	visitor Visitor
	file    SentFile
}

// ReceiveFile receives a file through a request link, completely or not at all. The file becomes a
// resource in the link's set, created by the owner of the link, with a name made of the label and
// the day.
func (s *Visitors) ReceiveFile(ctx context.Context, v Visitor, f SentFile, body io.Reader) (dropped metadata.Resource, err error) {
	var found foundLink
	err = s.visit(ctx, v, asked{kind: metadata.RequestLink}, func(_ *metadata.Tx, link foundLink) error {
		found = link
		return link.takes(f)
	})
	if err != nil {
		return dropped, err
	}
	name, err := s.sentName(found.Link, f)
	if err != nil {
		return dropped, err
	}
	upload := s.uploads.NewUploadFrom(&fileRequest{service: s, visitor: v, file: f}, found.asOwner(v.Origin))
	defer func() {
		if failed := upload.Discard(); err == nil {
			err = failed
		}
	}()
	set := found.SetID.String()
	if f.Length > 0 {
		err = upload.RoomFor(f.Length)
	}
	if err == nil {
		err = upload.Into(ctx, set)
	}
	if err == nil {
		var bounded io.Reader = &boundedBody{body: body, left: found.room()}
		if f.Length > 0 {
			bounded = blobs.WithLength(bounded, f.Length)
		}
		err = upload.Receive(ctx, bounded)
	}
	if err != nil {
		return dropped, hideQuota(err)
	}
	dropped, err = upload.Create(ctx, files.UploadFields{
		SetID: &set, Name: &name, Filename: path.Base(name), ContentType: f.ContentType, Expected: f.Expected,
		Names: files.FieldNames{Name: f.Field, Filename: f.Field, ContentType: "Content-Type", Digest: "Repr-Digest", Size: "Content-Length"},
	})
	return dropped, hideQuota(err)
}

// hideQuota removes from errors about space the details that visitors must not know.
func hideQuota(err error) error {
	var known *errs.Error
	if errors.As(err, &known) && known.Kind == errs.NoSpace {
		return &errs.Error{Kind: errs.NoSpace, Code: known.Code, Message: "there is not enough space for this file; please tell the person who requested it", Err: err}
	}
	return err
}

// takes returns an error if a link does not accept a file, as far as is known before it arrives.
func (v foundLink) takes(f SentFile) error {
	if f.Length > v.room() {
		return v.tooLarge()
	}
	types := TypesOf(v.Link)
	media, _, err := mime.ParseMediaType(f.ContentType)
	if len(types) == 0 || slices.ContainsFunc(types, func(kind string) bool {
		prefix, all := strings.CutSuffix(kind, "*")
		return kind[0] == '.' && strings.HasSuffix(strings.ToLower(f.Name), kind) || err == nil && (kind == media || all && strings.HasPrefix(media, prefix))
	}) {
		return nil
	}
	return &errs.Error{Kind: errs.UnsupportedMedia, Code: errs.CodeUnsupportedMedia, Field: f.Field, Message: "this link accepts only " + strings.Join(types, ", ")}
}

// room returns the maximum number of bytes of the next file.
func (v foundLink) room() int64 {
	room := int64(1<<63 - 1)
	if v.MaxFile > 0 {
		room = v.MaxFile
	}
	if v.MaxBytes > 0 {
		room = min(room, max(0, v.MaxBytes-v.Use.Bytes))
	}
	return room
}

func (v foundLink) tooLarge() error {
	return &errs.Error{Kind: errs.TooLarge, Code: errs.CodeTooLarge, Message: fmt.Sprintf("this link now accepts files of up to %d bytes", v.room())}
}

// sentName returns the name of a resource: the link's label or "drop", the day, and the file's own
// name.
func (s *Visitors) sentName(l metadata.Link, f SentFile) (string, error) {
	elements := slices.DeleteFunc(strings.Split(strings.ReplaceAll(f.Name, `\`, "/"), "/"), func(e string) bool { return e == "" || e == "." || e == ".." })
	if len(elements) == 0 {
		return "", core.Missing(f.Field, "the file needs a name, such as in …/s/<token>/scan.tif")
	}
	label := strings.Trim(strings.Map(func(c rune) rune {
		if c == '/' || c == '\\' {
			return '-'
		}
		return c
	}, l.Label), " .")
	name := path.Join(append([]string{cmp.Or(label, "drop"), s.core.Now().Time().UTC().Format("2006-01-02")}, elements...)...)
	return name, core.NameText.Check(f.Field, name)
}

// boundedBody is a body that fails when it exceeds the limit of the link.
type boundedBody struct {
	body io.Reader
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, &errs.Error{Kind: errs.TooLarge, Code: errs.CodeTooLarge, Message: "the file is larger than this link accepts"}
	}
	return n, err
}

// ask checks whether the link accepts the file with this length.
func (d *fileRequest) ask(tx *metadata.Tx, bytes int64) (foundLink, error) {
	found, err := d.service.findLink(tx, d.visitor, asked{kind: metadata.RequestLink})
	if err == nil {
		f := d.file
		f.Length = bytes
		err = found.takes(f)
	}
	return found, err
}

// Still implements Sender.
func (d *fileRequest) Still(ctx context.Context) error {
	return d.service.visit(ctx, d.visitor, asked{kind: metadata.RequestLink}, func(*metadata.Tx, foundLink) error { return nil })
}

// Uploads implements Sender.
func (d *fileRequest) Uploads() *resumable.Uploads { return d.service.Uploads(d.visitor, "") }

// Begin implements Sender. It checks the link and its number of unfinished uploads.
func (d *fileRequest) Begin(tx *metadata.Tx, t *metadata.ResumableUpload) error {
	found, err := d.ask(tx, t.Length)
	if err != nil {
		return err
	}
	t.SenderID = found.ID
	return d.bound(tx, found, t)
}

// Admit implements Sender. It checks the link again.
func (d *fileRequest) Admit(tx *metadata.Tx, r *metadata.Resource) error {
	found, err := d.ask(tx, r.Bytes)
	r.LinkID = found.ID
	return err
}

// Count implements Sender.
func (d *fileRequest) Count(tx *metadata.Tx, r metadata.Resource) error {
	use, err := tx.LinkUses.Get(r.LinkID)
	use.LinkID, use.Count, use.Bytes, use.Last = r.LinkID, use.Count+1, use.Bytes+r.Bytes, d.service.core.Now()
	if err = errs.Ignore(err, metadata.ErrNotFound); err != nil {
		return err
	}
	return tx.LinkUses.Put(use)
}
