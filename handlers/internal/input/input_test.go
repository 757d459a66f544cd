package input_test

import (
	"encoding/json"
	"errors"
	"testing"

	"labshelf/auth/errs"
	"labshelf/handlers/internal/input"
)

// blames fails the test unless err has this code and this field.
func blames(t *testing.T, err error, code errs.Code, field string) {
	t.Helper()
	known, is := errors.AsType[*errs.Error](err)
	if !is || known.Code != code || known.Field != field {
		t.Errorf("got the error %v (%+v), want %s for field %s", err, known, code, field)
	}
}

// shown is an object with an id and a number.
func shown() (input.Object, error) {
	return input.Object{"id": "a", "size": json.Number("10"), "state": nil}, nil
}

func TestMalformedValues(t *testing.T) {
	t.Parallel()
	for field, values := range map[string][]any{
		"quota":      {json.Number("-1"), json.Number("1.5"), json.Number("9223372036854775808"), "5", nil, true},
		"retention":  {"last 01", "all", 5, nil, true},
		"visibility": {"all", "", 5, nil},
		"metadata":   {"x", nil, true},
		"title":      {5, nil, []any{"x"}},
	} {
		for _, value := range values {
			in := input.DataspaceEdit(input.Object{field: value}, shown)
			blames(t, in.Malformed, errs.CodeInvalidField, field)
		}
	}
}

// TestDecodingStops tests that decoding stops at the first invalid field in the order of names, and
// keeps earlier fields.
func TestDecodingStops(t *testing.T) {
	t.Parallel()
	in := input.SetEdit(input.Object{"title": "later", "description": "sooner", "extract": "x"}, shown)
	blames(t, in.Malformed, errs.CodeInvalidField, "extract")
	if in.Title != nil || in.Description == nil || *in.Description != "sooner" {
		t.Errorf("it has %+v", in)
	}
	set, err := input.NewSet(input.Object{"dataspaceId": "d", "zzz": 1})
	if err != nil {
		t.Fatal(err)
	}
	blames(t, set.Malformed, errs.CodeMissingField, "name")
	set, err = input.NewSet(input.Object{"dataspaceId": "d", "name": "n", "title": "t", "zzz": 1})
	if blames(t, set.Malformed, errs.CodeUnknownField, "zzz"); err != nil || set.Name != "n" || *set.Title != "t" {
		t.Errorf("it is %+v, %v", set, err)
	}
	_, err = input.NewSet(input.Object{"name": "n"})
	blames(t, err, errs.CodeMissingField, "dataspaceId")
}

// TestFixedFields tests that a read-only field is accepted with its present value. Another value is
// refused only if all other fields are valid.
func TestFixedFields(t *testing.T) {
	t.Parallel()
	same := input.SetEdit(input.Object{"id": "a", "size": json.Number("1e1"), "title": "x"}, shown)
	if same.Malformed != nil || *same.Title != "x" {
		t.Errorf("it is %+v", same)
	}
	blames(t, input.SetEdit(input.Object{"id": "b", "title": "x"}, shown).Malformed, errs.CodeReadOnlyField, "id")
	blames(t, input.SetEdit(input.Object{"id": "b", "title": 5}, shown).Malformed, errs.CodeInvalidField, "title")
	blames(t, input.SetEdit(input.Object{"id": "b", "zzz": 5}, shown).Malformed, errs.CodeUnknownField, "zzz")
	blames(t, input.SetEdit(input.Object{"id": nil}, shown).Malformed, errs.CodeInvalidField, "id")
	failed := errors.New("no such set")
	in := input.SetEdit(input.Object{"id": "a"}, func() (input.Object, error) { return nil, failed })
	if !errors.Is(in.Malformed, failed) {
		t.Errorf("it is %v", in.Malformed)
	}
	in = input.SetEdit(input.Object{"title": "x"}, func() (input.Object, error) { return nil, failed })
	if in.Malformed != nil {
		t.Errorf("the object was read needlessly: %v", in.Malformed)
	}
}

// TestMalformedRequests decodes malformed requests for many files, folders and versions.
func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	ids := []any{"a"}
	for name, tc := range map[string]struct {
		err   error
		code  errs.Code
		field string
	}{
		"another action":     {input.Many(input.Object{"action": "purge", "ids": ids}).Malformed, errs.CodeInvalidField, "action"},
		"numbers":            {input.Many(input.Object{"action": "delete", "ids": []any{1}}).Malformed, errs.CodeInvalidField, "ids"},
		"an unknown member":  {input.Many(input.Object{"action": "delete", "ids": ids, "x": ""}).Malformed, errs.CodeUnknownField, "x"},
		"another deletion":   {input.Restoration(input.Object{"path": "d/", "deletion": "x"}).Malformed, errs.CodeInvalidField, "deletion"},
		"one backwards":      {input.Restoration(input.Object{"path": "d/", "deletion": "2-1"}).Malformed, errs.CodeInvalidField, "deletion"},
		"a label of numbers": {input.Version(input.Object{"label": 1}).Malformed, errs.CodeInvalidField, "label"},
		"types of a word":    {input.SchemaEdit(input.Object{"types": "csv"}, shown).Malformed, errs.CodeInvalidField, "types"},
		"a number enforces":  {input.SchemaEdit(input.Object{"enforce": 1}, shown).Malformed, errs.CodeInvalidField, "enforce"},
		"for everything":     {input.NewSchema(input.Object{"name": "n", "schema": json.RawMessage("{}"), "for": "all"}).Malformed, errs.CodeInvalidField, "for"},
		"version of a new":   {input.NewSchema(input.Object{"name": "n", "schema": json.RawMessage("{}"), "version": 1}).Malformed, errs.CodeUnknownField, "version"},
		"a URL of numbers":   {input.WebhookEdit(input.Object{"url": 1}, shown).Malformed, errs.CodeInvalidField, "url"},
		"a word for events":  {input.WebhookEdit(input.Object{"events": "resource.*"}, shown).Malformed, errs.CodeInvalidField, "events"},
		"events of numbers":  {input.WebhookEdit(input.Object{"events": []any{1}}, shown).Malformed, errs.CodeInvalidField, "events"},
		"a label of truth":   {input.WebhookEdit(input.Object{"label": true}, shown).Malformed, errs.CodeInvalidField, "label"},
		"no label":           {input.Version(input.Object{}).Malformed, errs.CodeMissingField, "label"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			blames(t, tc.err, tc.code, tc.field)
		})
	}
}
