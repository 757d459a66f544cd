package body

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/handlers/multipart"
	"labshelf/repository/core"
	"labshelf/repository/files"
)

// Bounds of a multipart body without its file, in addition to the bounds of multipart.Reader.
const (
	maxPartText = 64 << 10 // bytes of a text part
	maxOverhead = 1 << 20  // bytes of everything except the file
)

// parts are the parts of an upload. Each may appear at most once.
var parts = []string{"file", "setId", "name", "format", "description", "metadata", "sha256"}

// Form is a multipart upload that is being read. Its parts may have any order.
type Form struct {
	request *http.Request
	upload  *files.Upload
	parts   *multipart.Reader
	verify  func() error // checks the digests in the headers; nil: none announced
	fields  files.UploadFields
	seen    []string
}

// OpenForm checks the headers of a multipart body. It does not read the body.
func OpenForm(r *http.Request, upload *files.Upload) (*Form, error) {
	params, err := boundary(r)
	if err != nil {
		return nil, err
	}
	if limit := upload.Limit(); limit > 0 {
		if r.ContentLength > limit+maxOverhead {
			return nil, &errs.Error{Kind: errs.TooLarge, Code: errs.CodeTooLarge, Field: "file",
				Message: "the file is larger than this service accepts"}
		}
		r.Body = http.MaxBytesReader(nil, r.Body, limit+maxOverhead)
	}
	verify, err := Verifier(r)
	if err != nil {
		return nil, err
	}
	return &Form{request: r, upload: upload, verify: verify, parts: multipart.NewReader(r.Body, params["boundary"])}, nil
}

// Read reads all parts of the body. It returns the texts as fields, and writes the file to the disk
// through the upload. It calls begin when it has read the part setId.
func (f *Form) Read(begin func(setID string) error) (files.UploadFields, error) {
	for {
		part, err := f.parts.Next()
		switch {
		case err == io.EOF:
			if _, err := io.Copy(io.Discard, f.request.Body); err != nil {
				return f.fields, Error(err)
			}
			if f.verify == nil {
				return f.fields, nil
			}
			return f.fields, f.verify()
		case errors.Is(err, multipart.ErrTooLong):
			return f.fields, Invalid("the header of a part has more than %d bytes, or the bytes between two parts are more than %d",
				multipart.MaxHeader, multipart.MaxOutside)
		case err != nil:
			return f.fields, Error(err)
		}
		if err := f.take(part, begin); err != nil {
			return f.fields, err
		}
	}
}

// take reads one part.
func (f *Form) take(part *multipart.Part, begin func(setID string) error) error {
	name, filename, hasFilename, err := disposition(part.Header)
	if err != nil {
		return err
	}
	if !slices.Contains(parts, name) {
		return &errs.Error{Kind: errs.Invalid, Code: errs.CodeUnknownField, Field: core.Shorten(name),
			Message: "this is not a part of an upload; its parts are " + strings.Join(parts, ", ")}
	}
	if slices.Contains(f.seen, name) {
		return InvalidField(name, "this part occurs twice")
	}
	f.seen = append(f.seen, name)
	switch transfer := strings.ToLower(part.Header.Get("Content-Transfer-Encoding")); transfer {
	case "", "7bit", "8bit", "binary":
	default:
		return InvalidField(name, "a Content-Transfer-Encoding that changes the bytes is not supported")
	}
	if name == "file" {
		if hasFilename && filename == "" {
			return nil // browsers send this for a form without a chosen file
		}
		return f.receive(part, filename)
	}
	text, err := readText(name, part)
	if err != nil {
		return err
	}
	return f.setText(name, text, begin)
}

func (f *Form) receive(part *multipart.Part, filename string) error {
	expected, err := announced(func(name string) []string { return part.Header.Values(name) }, "file")
	if err != nil {
		return err
	}
	f.fields.Expected = append(f.fields.Expected, expected...)
	f.fields.Filename, f.fields.ContentType = filename, part.Header.Get("Content-Type")
	if err := f.upload.RoomFor(f.request.ContentLength - maxOverhead); err != nil {
		return err
	}
	return f.upload.Receive(f.request.Context(), Reader{part})
}

func (f *Form) setText(name, text string, begin func(setID string) error) error {
	switch name {
	case "setId":
		if text == "" {
			return nil // counts as missing
		}
		f.fields.SetID = &text
		return begin(text)
	case "name":
		f.fields.Name = &text
	case "format":
		f.fields.Format = &text
	case "description":
		f.fields.Description = &text
	case "metadata":
		f.fields.Metadata = &text
	case "sha256":
		digest, err := blobs.ParseDigest(text)
		if err != nil {
			return InvalidField(name, "sha256 must be 64 hexadecimal digits")
		}
		f.fields.Expected = append(f.fields.Expected, digest)
	}
	return nil
}

// disposition returns the name of a part and its file name, as sent.
func disposition(header textproto.MIMEHeader) (name, filename string, hasFilename bool, err error) {
	kind, params, err := mime.ParseMediaType(header.Get("Content-Disposition"))
	if err != nil || kind != "form-data" || params["name"] == "" {
		return "", "", false, Invalid("a part has no Content-Disposition: form-data with a name")
	}
	filename, hasFilename = params["filename"]
	return params["name"], filename, hasFilename, nil
}

// charsets are the encodings other than UTF-8 in which historical clients send text parts.
var charsets = map[string]*charmap.Charmap{
	"iso-8859-1": charmap.ISO8859_1, "latin1": charmap.ISO8859_1, "windows-1252": charmap.Windows1252, "cp1252": charmap.Windows1252,
}

// readText reads a text part in its declared character set.
func readText(name string, part *multipart.Part) (string, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(nil, io.NopCloser(Reader{part}), maxPartText))
	if len(raw) == maxPartText {
		return "", InvalidField(name, "this value is far too long")
	}
	if err != nil {
		return "", Error(err)
	}
	_, params, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
	switch charset := strings.ToLower(params["charset"]); charset {
	case "", "utf-8", "utf8", "us-ascii":
		return string(raw), nil
	default:
		known, ok := charsets[charset]
		if !ok {
			return "", InvalidField(name, "the charset of a text part must be UTF-8, ISO-8859-1 or windows-1252")
		}
		text, err := known.NewDecoder().Bytes(raw)
		if bytes.ContainsRune(text, utf8.RuneError) {
			return "", InvalidField(name, "this value has bytes that are not valid in its charset")
		}
		return string(text), err
	}
}

// Files calls fn for each file of a multipart body, in order. fn must read its body to the end.
// Files skips parts without a file name, and parts with an empty one, which browsers send if no
// file was chosen.
func Files(r *http.Request, fn func(filename, contentType string, body io.Reader) error) error {
	params, err := boundary(r)
	if err != nil {
		return err
	}
	for parts := multipart.NewReader(r.Body, params["boundary"]); ; {
		part, err := parts.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return Error(err)
		}
		_, filename, _, err := disposition(part.Header)
		if err == nil && filename != "" {
			err = fn(filename, part.Header.Get("Content-Type"), Reader{part})
		}
		if err != nil {
			return err
		}
	}
}
