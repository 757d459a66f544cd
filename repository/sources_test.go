package repository_test

import (
	"errors"
	"strings"
	"testing"

	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/files"
)

// filled gives the first resource properties in the same way as an instrument.
func (d *described) filled(text string) {
	d.T.Helper()
	d.OK(d.meta.Update(d.T.Context(), func(tx *metadata.Tx) error {
		return tx.Descriptive.Put(metadata.Descriptive{ObjectID: d.Resources[0].ID, JSON: text})
	}))
}

const filledText = `{"properties":{"a":1,"b":{"value":2,"unit":"K"},"c":3},"sources":{"a":"header","b":"sidecar"}}`

// TestSources: a value that a person sets or removes loses its source, and unchanged metadata can
// be sent back.
func TestSources(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	for patch, want := range map[string]string{
		filledText:                         filledText,
		`{"tags":["t"]}`:                   `{"tags":["t"],` + filledText[1:],
		`{"properties":{"a":1}}`:           filledText,
		`{"properties":{"a":1.0,"c":4}}`:   `{"properties":{"a":1.0,"b":{"value":2,"unit":"K"},"c":4},"sources":{"b":"sidecar"}}`,
		`{"properties":{"b":{"value":5}}}`: `{"properties":{"a":1,"b":{"value":5,"unit":"K"},"c":3},"sources":{"a":"header"}}`,
		`{"properties":{"b":null}}`:        `{"properties":{"a":1,"c":3},"sources":{"a":"header"}}`,
		`{"properties":null}`:              ``,
		`{"sources":{"a":null}}`:           `{"properties":{"a":1,"b":{"value":2,"unit":"K"},"c":3},"sources":{"b":"sidecar"}}`,
		`{"sources":null}`:                 `{"properties":{"a":1,"b":{"value":2,"unit":"K"},"c":3}}`,
		`{"sources":{"a":"header","b":"sidecar"},"properties":{"a":9}}`: `{"properties":{"a":9,"b":{"value":2,"unit":"K"},"c":3},"sources":{"b":"sidecar"}}`,
	} {
		d.filled(filledText)
		if got := d.set(patch).Descriptive; got != want || d.stored(d.Resources[0].ID) != want {
			t.Errorf("%s:\n got %s\nwant %s", patch, got, want)
		}
	}
}

// TestSourcesRefused: a person cannot add sources, and sets and dataspaces have none.
func TestSourcesRefused(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	for patch, field := range map[string]string{
		`{"sources":{"c":"header"}}`:                       "metadata.sources.c",
		`{"sources":{"a":"sidecar"}}`:                      "metadata.sources.a",
		`{"properties":{"d":1},"sources":{"d":"sidecar"}}`: "metadata.sources.d",
		`{"sources":{"z":"header"}}`:                       "metadata.sources.z",
	} {
		d.filled(filledText)
		_, err := d.edit(patch)
		var known *errs.Error
		if !errors.As(err, &known) || known.Kind != errs.Invalid || known.Field != field {
			t.Errorf("%s: %v", patch, err)
		}
		if got := d.stored(d.Resources[0].ID); got != filledText {
			t.Errorf("%s was refused, but the metadata are %s", patch, got)
		}
	}
	_, err := d.Service.Sets.Update(t.Context(), d.Admin, d.Sets[0].ID.String(), containers.SetFields{Metadata: patch(`{"properties":{"a":1},"sources":{"a":"header"}}`)}, core.Match{})
	d.Refused(err, errs.CodeInvalidField)
}

// TestSourcesOfUploads: a file with the metadata of another repository is accepted without its
// sources. A replacement keeps the sources of unchanged properties.
func TestSourcesOfUploads(t *testing.T) {
	t.Parallel()
	d := newDescribed(t)
	set, name := d.Sets[0].ID.String(), "arrived"
	up := d.Service.Uploads.NewUpload(d.Admin)
	d.OK(up.Receive(t.Context(), strings.NewReader("content")))
	made, err := up.Create(t.Context(), files.UploadFields{SetID: &set, Name: &name, Metadata: new(filledText)})
	d.OK(errors.Join(err, up.Discard()))
	if want := `{"properties":{"a":1,"b":{"value":2,"unit":"K"},"c":3}}`; made.Descriptive != want {
		t.Errorf("created with %s", made.Descriptive)
	}
	d.filled(filledText)
	up = d.Service.Uploads.NewUpload(d.Admin)
	d.OK(up.Receive(t.Context(), strings.NewReader("other")))
	over, err := up.Replace(t.Context(), d.Resources[0].ID.String(), files.UploadFields{Name: &name, Metadata: new(`{"properties":{"a":7},"sources":{"c":"header"}}`)})
	d.OK(errors.Join(err, up.Discard()))
	if want := `{"properties":{"a":7,"b":{"value":2,"unit":"K"},"c":3},"sources":{"b":"sidecar"}}`; over.Descriptive != want {
		t.Errorf("replaced with %s", over.Descriptive)
	}
}
