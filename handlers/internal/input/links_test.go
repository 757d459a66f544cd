package input_test

import (
	"encoding/json"
	"testing"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/handlers/internal/input"
	"labshelf/metadata"
)

// TestNewLink tests that NewLink returns an error in the set immediately. It stores other errors in
// Malformed, kind and role first.
func TestNewLink(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fields input.Object
		now    bool // not in Malformed
		code   errs.Code
		field  string
	}{
		"no set":            {input.Object{"kind": "gift"}, true, errs.CodeMissingField, "setId"},
		"a set of numbers":  {input.Object{"kind": "share", "setId": 1}, true, errs.CodeInvalidField, "setId"},
		"another parent":    {input.Object{"kind": "share", "setId": "s", "dataspaceId": 1}, false, errs.CodeInvalidField, "dataspaceId"},
		"a set for all":     {input.Object{"kind": "invitation", "setId": 1}, false, errs.CodeInvalidField, "setId"},
		"no kind":           {input.Object{"setId": "s", "label": 1}, false, errs.CodeMissingField, "kind"},
		"another kind":      {input.Object{"setId": "s", "kind": "gift", "label": 1}, false, errs.CodeInvalidField, "kind"},
		"another role":      {input.Object{"kind": "invitation", "expires": "x", "role": "owner"}, false, errs.CodeInvalidField, "role"},
		"half a use":        {input.Object{"kind": "share", "setId": "s", "maxUses": json.Number("0.5")}, false, errs.CodeInvalidField, "maxUses"},
		"too many bytes":    {input.Object{"kind": "request", "setId": "s", "maxBytes": json.Number("1152921504606846977")}, false, errs.CodeInvalidField, "maxBytes"},
		"another end":       {input.Object{"kind": "share", "setId": "s", "expires": "tomorrow"}, false, errs.CodeInvalidField, "expires"},
		"an unknown member": {input.Object{"kind": "share", "setId": "s", "x": ""}, false, errs.CodeUnknownField, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, err := input.NewLink(tc.fields)
			if tc.now == (err == nil) {
				t.Fatalf("it is %v", err)
			}
			if !tc.now {
				err = in.Malformed
			}
			blames(t, err, tc.code, tc.field)
		})
	}
	in, err := input.NewLink(input.Object{"kind": "invitation", "dataspaceId": "d", "role": "owner"})
	if err != nil || in.Kind != metadata.Invitation || *in.DataspaceID != "d" || in.Role == nil || *in.Role != auth.None {
		t.Errorf("a malformed role is treated as missing: %+v, %v", in, err)
	}
}

// TestLinkEdit tests that a link can be sent back as it was read, with derived fields and fields of
// other kinds.
func TestLinkEdit(t *testing.T) {
	t.Parallel()
	shown := func() (input.Object, error) {
		return input.Object{"kind": "share", "label": "a", "maxBytes": json.Number("0"), "types": []any{}, "folder": "f", "uses": json.Number("3")}, nil
	}
	same, _ := shown()
	same["uses"], same["label"] = json.Number("2"), "b"
	in := input.LinkEdit(same, shown)
	if in.Malformed != nil || in.Label == nil || *in.Label != "b" || in.MaxBytes != nil || in.Types != nil {
		t.Errorf("it is %+v", in)
	}
	if in := input.LinkEdit(input.Object{"maxBytes": json.Number("5")}, shown); in.Malformed != nil || *in.MaxBytes != 5 {
		t.Errorf("it is %+v", in)
	}
	blames(t, input.LinkEdit(input.Object{"folder": "g"}, shown).Malformed, errs.CodeReadOnlyField, "folder")
	request := func() (input.Object, error) { return input.Object{"kind": "request", "folder": ""}, nil }
	blames(t, input.LinkEdit(input.Object{"folder": "g"}, request).Malformed, errs.CodeInvalidField, "folder")
}
