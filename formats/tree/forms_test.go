package tree_test

import (
	"slices"
	"testing"

	"labshelf/formats/tree"
)

// TestStored tests that a path in another Unicode normal form resolves to the only file or folder
// that has it, element by element.
func TestStored(t *testing.T) {
	t.Parallel()
	const c, d = "\u00dc", "U\u0308" // Ü
	s := newSet([]string{c + "/" + d + ".txt", "both/" + c, "both/" + d, c + "2/a", d + "2/b", "plain/\u00e9" + d, d + " (01HZ0000000000000000000000).txt"}, nil)
	for path, want := range map[string]string{
		d + "/" + c + ".txt": c + "/" + d + ".txt", c + "/" + c + ".txt": c + "/" + d + ".txt", d: c, d + "/new": c + "/new", d + "/" + d + "new/x": c + "/" + d + "new/x",
		"both/" + c: "both/" + c, "both/" + d: "both/" + d, c + "2/b": d + "2/b", d + "2/a": c + "2/a", c + "2/" + c: c + "2/" + c, d + "2/new": d + "2/new",
		"plain/e\u0301" + d: "plain/e\u0301" + d, "none/" + d: "none/" + d, "plain": "plain", d + "/../" + d: c + "/../" + d, "\xff" + d: "\xff" + d, "": "",
	} {
		if got, err := tree.Stored(s, path); got != want || err != nil {
			t.Errorf("%+q: %+q, %v, want %+q", path, got, err, want)
		}
	}
}

// TestForms tests that ASCII strings have one form. Each form of another string has the same forms.
func TestForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"a": 1, "\u00dc": 2, "U\u0308": 2, "\u00dce\u0301": 3, "\u212b": 3, "日本": 1, "\uac00": 2} {
		if forms := tree.Forms(text); len(forms) != want || forms[0] != text || slices.Contains(forms[1:], text) {
			t.Errorf("%+q: %+q, want %d", text, forms, want)
		}
	}
}
