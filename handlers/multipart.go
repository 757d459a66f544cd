package handlers

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

	"labshelf/blobs"
	"labshelf/errs"
	"labshelf/handlers/multipart"
	"labshelf/repository"
)

// Bounds of a multipart body, its file apart, beside those of multipart.Reader.
const (
	maxPartText = 64 << 10 // bytes of a text part
	maxOverhead = 1 << 20  // bytes of everything but the file
)

// parts are the parts that an upload may have, each at most once.
var parts = []string{"file", "setId", "name", "format", "description", "sha256"}

// form is an upload while its parts come in, in whatever order.
type form struct {
	request *request
	upload  *repository.Upload
	parts   *multipart.Reader
	check   func() error // of what was announced about the whole body
	fields  repository.UploadFields
	seen    []string
}

// openForm looks at what can be known of a multipart body before it is read.
func openForm(r *request, upload *repository.Upload) (*form, error) {
	params, err := mediaType(r, "multipart/form-data")
	if err != nil {
		return nil, err
	}
	if params["boundary"] == "" {
		return nil, invalidBody("the Content-Type names no boundary")
	}
	if limit := upload.Limit(); limit > 0 {
		if r.ContentLength > limit+maxOverhead {
			return nil, &errs.Error{Kind: errs.TooLarge, Code: errs.CodeTooLarge, Field: "file",
				Message: "the file is larger than this service accepts"}
		}
		r.Body = http.MaxBytesReader(nil, r.Body, limit+maxOverhead)
	}
	check, err := wholeBody(r)
	if err != nil {
		return nil, err
	}
	return &form{request: r, upload: upload, check: check, parts: multipart.NewReader(r.Body, params["boundary"])}, nil
}

// read reads the parts to the end of the body: texts into fields, the file through the upload onto the disk. begin is called
// when the part setId has come.
func (f *form) read(begin func(setID string) error) (repository.UploadFields, error) {
	for {
		part, err := f.parts.Next()
		switch {
		case err == io.EOF:
			if _, err := io.Copy(io.Discard, f.request.Body); err != nil {
				return f.fields, bodyError(err)
			}
			return f.fields, f.check()
		case errors.Is(err, multipart.ErrTooLong):
			return f.fields, invalidBody("the header of a part has more than %d bytes, or what stands between two parts more than %d",
				multipart.MaxHeader, multipart.MaxOutside)
		case err != nil:
			return f.fields, bodyError(err)
		}
		if err := f.take(part, begin); err != nil {
			return f.fields, err
		}
	}
}

// take reads one part.
func (f *form) take(part *multipart.Part, begin func(setID string) error) error {
	name, filename, hasFilename, err := disposition(part.Header)
	if err != nil {
		return err
	}
	if !slices.Contains(parts, name) {
		return &errs.Error{Kind: errs.Invalid, Code: errs.CodeUnknownField, Field: repository.Shorten(name),
			Message: "this is not a part of an upload; its parts are " + strings.Join(parts, ", ")}
	}
	if slices.Contains(f.seen, name) {
		return invalidPart(name, "this part is there twice")
	}
	f.seen = append(f.seen, name)
	switch transfer := strings.ToLower(part.Header.Get("Content-Transfer-Encoding")); transfer {
	case "", "7bit", "8bit", "binary":
	default:
		return invalidPart(name, "a Content-Transfer-Encoding that changes the bytes is not read here")
	}
	if name == "file" {
		if hasFilename && filename == "" {
			return nil // what a browser sends for a form without a chosen file
		}
		return f.receive(part, filename)
	}
	text, err := readText(name, part)
	if err != nil {
		return err
	}
	return f.setText(name, text, begin)
}

func (f *form) receive(part *multipart.Part, filename string) error {
	expected, err := announced(func(name string) []string { return part.Header.Values(name) }, "file")
	if err != nil {
		return err
	}
	f.fields.Expected = append(f.fields.Expected, expected...)
	f.fields.Filename, f.fields.ContentType = filename, part.Header.Get("Content-Type")
	if err := f.upload.RoomFor(f.request.ContentLength - maxOverhead); err != nil {
		return err
	}
	return f.upload.Receive(f.request.Context(), partBody{part})
}

func (f *form) setText(name, text string, begin func(setID string) error) error {
	switch name {
	case "setId":
		if text == "" {
			return nil // as if it were left out
		}
		f.fields.SetID = &text
		return begin(text)
	case "name":
		f.fields.Name = &text
	case "format":
		f.fields.Format = &text
	case "description":
		f.fields.Description = &text
	case "sha256":
		digest, err := blobs.ParseDigest(text)
		if err != nil {
			return invalidPart(name, "sha256 must be 64 hexadecimal digits")
		}
		f.fields.Expected = append(f.fields.Expected, digest)
	}
	return nil
}

func invalidPart(name, message string) error {
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: repository.Shorten(name), Message: message}
}

// disposition returns what the header of a part says: its name and, as sent, its file name.
func disposition(header textproto.MIMEHeader) (name, filename string, hasFilename bool, err error) {
	kind, params, err := mime.ParseMediaType(header.Get("Content-Disposition"))
	if err != nil || kind != "form-data" || params["name"] == "" {
		return "", "", false, invalidBody("a part has no Content-Disposition: form-data with a name")
	}
	filename, hasFilename = params["filename"]
	return params["name"], filename, hasFilename, nil
}

// charsets are the encodings of text parts, beside UTF-8, that historical clients use.
var charsets = map[string]*charmap.Charmap{
	"iso-8859-1": charmap.ISO8859_1, "latin1": charmap.ISO8859_1, "windows-1252": charmap.Windows1252, "cp1252": charmap.Windows1252,
}

// readText reads a text part in the character set that it names.
func readText(name string, part *multipart.Part) (string, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(nil, io.NopCloser(partBody{part}), maxPartText))
	if len(raw) == maxPartText {
		return "", invalidPart(name, "this text is far too long")
	}
	if err != nil {
		return "", bodyError(err)
	}
	_, params, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
	switch charset := strings.ToLower(params["charset"]); charset {
	case "", "utf-8", "utf8", "us-ascii":
		return string(raw), nil
	default:
		known, ok := charsets[charset]
		if !ok {
			return "", invalidPart(name, "the charset of a text part must be UTF-8, ISO-8859-1 or windows-1252")
		}
		text, err := known.NewDecoder().Bytes(raw)
		if bytes.ContainsRune(text, utf8.RuneError) {
			return "", invalidPart(name, "this text has bytes that stand for nothing in its charset")
		}
		return string(text), err
	}
}

// partBody reads a part, with errors that say what went wrong.
type partBody struct{ part *multipart.Part }

func (b partBody) Read(p []byte) (int, error) {
	n, err := b.part.Read(p)
	if err != nil && err != io.EOF {
		err = bodyError(err)
	}
	return n, err
}
