package files

import (
	"cmp"
	"mime"
	"strings"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/formats/descriptive"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/describe"
	"labshelf/repository/internal/content"
)

// mimeOf returns the media type of a file: the one sent, unless it is unspecific, or else the one
// detected from the content and the names. field is the field that it was sent in.
func mimeOf(sent, field string, head []byte, names ...string) (string, error) {
	const unknown = "application/octet-stream"
	if sent == "" {
		return content.Detect(head, names...), nil
	}
	media, _, err := mime.ParseMediaType(sent)
	switch {
	case err != nil || len(sent) > core.MaxMimeBytes || !strings.Contains(media, "/"):
		return "", core.Invalid(field, "the Content-Type of the file must be a media type such as text/csv, of up to %d bytes", core.MaxMimeBytes)
	case media == unknown:
		return content.Detect(head, names...), nil
	}
	return sent, core.TextRule{What: "the Content-Type of the file", Max: core.MaxMimeBytes}.Check(field, sent)
}

// UploadFields are the fields sent with a file. A nil string was not sent.
type UploadFields struct {
	SetID                     *string
	Name, Format, Description *string
	Metadata                  *string // merge patch of the descriptive metadata
	Filename                  string  // as sent, may include folders
	ContentType               string  // as sent; "" if unknown
	Expected                  []blobs.Digest
	Match                     core.Match // preconditions of a replacement
	Attributes                Attributes
	Names                     FieldNames
}

// FieldNames are the names that the request uses for these fields. "" stands for the default, file
// or name.
type FieldNames struct{ Name, Filename, ContentType, Digest, Size string }

// ForName returns the request's name of the field with the name.
func (n FieldNames) ForName() string { return cmp.Or(n.Name, "name") }

// ForFilename returns the request's name of the field with the file name.
func (n FieldNames) ForFilename() string { return cmp.Or(n.Filename, "file") }

func (n FieldNames) contentType() string { return cmp.Or(n.ContentType, "file") }

func (n FieldNames) size() string { return cmp.Or(n.Size, "file") }

func (n FieldNames) digest() string { return cmp.Or(n.Digest, "file") }

// Describe validates the fields and the body, and returns the resource without its set.
func (u *Upload) Describe(f UploadFields) (r metadata.Resource, err error) {
	if u.received == nil {
		return r, core.Missing("file", "file is required: the file to upload")
	}
	for _, want := range f.Expected {
		if want != u.received.digest {
			return r, &errs.Error{Kind: errs.Invalid, Code: errs.CodeDigestMismatch, Field: f.Names.digest(),
				Message: "the file that arrived has the SHA-256 " + u.received.digest.String() + ", not the one announced; nothing was changed"}
		}
	}
	if r, err = described(f); err != nil {
		return r, err
	}
	r.Digest, r.Bytes, r.Body = u.received.digest, u.received.size(), u.received.location()
	r.MimeType, err = mimeOf(f.ContentType, f.Names.contentType(), u.received.head(), r.Filename, r.Name)
	return r, err
}

// described returns the attributes of a resource that are known without its body.
func described(f UploadFields) (r metadata.Resource, err error) {
	r.Filename = f.Filename[strings.LastIndexAny(f.Filename, `/\`)+1:]
	if r.Name, err = nameOf(f, r.Filename); err != nil {
		return r, err
	}
	r.Format = formatOf(r.Filename)
	if r.Format == "" {
		r.Format = formatOf(r.Name)
	}
	if f.Format != nil && *f.Format != "" {
		r.Format = *f.Format
	}
	if f.Description != nil {
		r.Description = *f.Description
	}
	for _, c := range []struct {
		field string
		rule  core.TextRule
		value string
	}{
		{f.Names.ForName(), core.NameText, r.Name}, {"format", core.FormText, r.Format}, {"description", core.ProseText, r.Description},
	} {
		if err := c.rule.Check(c.field, c.value); err != nil {
			return r, err
		}
	}
	return r, f.describe(&r)
}

// describe merges the metadata sent with the file into the descriptive metadata of a resource.
func (f UploadFields) describe(r *metadata.Resource) error {
	if f.Metadata == nil || *f.Metadata == "" {
		return nil
	}
	return describe.Describe(descriptive.Resource, &r.Descriptive, []byte(*f.Metadata), true)
}

// nameOf validates the file name, and returns the name of the resource: the one sent, or else the
// file name.
func nameOf(f UploadFields, filename string) (string, error) {
	if filename != "" {
		if err := core.FileText.Check(f.Names.ForFilename(), filename); err != nil {
			return "", err
		}
	}
	if f.Name != nil && *f.Name != "" {
		return *f.Name, nil
	}
	if filename == "" || filename == "." || filename == ".." {
		return "", core.Missing("name", "name is required if the file name is missing, . or ..")
	}
	return filename, nil
}
