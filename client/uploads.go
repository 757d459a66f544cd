package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"strings"
	"unicode"

	"labshelf/blobs/digest"
)

// form is the body of an upload: text fields, then the file and, if its digest was not known
// before, the digest after it.
type form struct {
	head, tail  []byte // before and after the file; the digest in the tail is set later
	digestAt    int    // position in the tail, or -1
	boundary    string
	file        io.Reader
	size, start int64     // -1: unknown
	seeker      io.Seeker // nil: the file can be read only once
	last        *sending  // the last attempt, or nil
}

func newForm(r NewResource, body io.Reader, size int64) (*form, error) {
	var text bytes.Buffer
	w := multipart.NewWriter(&text)
	fields := [][2]string{{"setId", r.SetID}, {"name", r.Name}, {"format", r.Format}, {"description", r.Description}, {"metadata", string(r.Metadata)}}
	known := r.Digest != digest.Digest{}
	if known {
		fields = append(fields, [2]string{"sha256", r.Digest.String()})
	}
	for _, field := range fields {
		if field[1] == "" {
			continue
		}
		if err := w.WriteField(field[0], field[1]); err != nil {
			return nil, err
		}
	}
	if strings.ContainsFunc(r.Mimetype, unicode.IsControl) {
		return nil, fmt.Errorf("the Mimetype %q has a control character", r.Mimetype)
	}
	header := textproto.MIMEHeader{}
	params := map[string]string{"name": "file"}
	if r.Filename != "" {
		params["filename"] = r.Filename
	}
	header.Set("Content-Disposition", mime.FormatMediaType("form-data", params))
	if r.Mimetype != "" {
		header.Set("Content-Type", r.Mimetype)
	}
	if _, err := w.CreatePart(header); err != nil {
		return nil, err
	}
	f := &form{head: bytes.Clone(text.Bytes()), digestAt: -1, boundary: w.Boundary(), file: body, size: size}
	text.Reset()
	if !known {
		if err := w.WriteField("sha256", digest.Digest{}.String()); err != nil {
			return nil, err
		}
		f.digestAt = text.Len() - len(digest.Digest{}.String())
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	f.tail = text.Bytes()
	if seeker, ok := body.(io.Seeker); ok {
		if start, err := seeker.Seek(0, io.SeekCurrent); err == nil {
			f.seeker, f.start = seeker, start
		}
	}
	return f, nil
}

func (f *form) contentType() string { return "multipart/form-data; boundary=" + f.boundary }

// length returns the length of the complete body; -1: unknown.
func (f *form) length() int64 {
	if f.size < 0 {
		return -1
	}
	return int64(len(f.head)) + f.size + int64(len(f.tail))
}

// rewind reports whether the body can be sent again, from its start. A call without a form has
// nothing to rewind.
func (f *form) rewind() bool {
	if f == nil || f.last == nil || f.last.spared {
		return true
	}
	if f.seeker == nil {
		return false
	}
	_, err := f.seeker.Seek(f.start, io.SeekStart)
	return err == nil
}

// begin begins an attempt, which ends with the context at the latest.
func (f *form) begin(ctx context.Context) *sending {
	if f == nil {
		return nil
	}
	f.last = (&sending{
		head: bytes.NewReader(f.head), file: f.file, size: f.size, length: f.length(), ending: func() []byte { return f.tail },
	}).begin(ctx)
	if f.digestAt >= 0 {
		sum := sha256.New()
		f.last.see = func(b []byte) { sum.Write(b) }
		f.last.ending = func() []byte {
			tail := bytes.Clone(f.tail)
			copy(tail[f.digestAt:], digest.Digest(sum.Sum(nil)).String())
			return tail
		}
	}
	return f.last
}
