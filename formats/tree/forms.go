package tree

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// mostForms bounds the folders with the same path in other normal forms.
const mostForms = 8

// Forms returns a text, and its composed and decomposed forms (NFC and NFD) if they differ. macOS
// sends decomposed file names, and other systems send what was typed.
func Forms(text string) []string {
	forms := []string{text}
	for _, form := range []norm.Form{norm.NFC, norm.NFD} {
		if other := form.String(text); !slices.Contains(forms, other) {
			forms = append(forms, other)
		}
	}
	return forms
}

// Stored resolves a path in any Unicode normal form to the stored path, without a slash at its end,
// as in Lookup. An existing path is returned unchanged. Otherwise each element may have another
// form, and Stored returns the forms in which exactly one file or folder exists. If none exists,
// the leading folders have the form of existing ones.
func Stored[F File](s Set[F], path string) (string, error) {
	if len(Forms(path)) == 1 || !utf8.ValidString(path) {
		return path, nil
	}
	if _, found, err := Lookup(s, path); found || err != nil {
		return path, err
	}
	above := []string{""}
	for rest, more := path, true; more; {
		var element string
		element, rest, more = strings.Cut(rest, "/")
		there, err := below(s, above, element, more)
		if err != nil {
			return path, err
		}
		if !more && len(there) == 1 {
			return there[0], nil
		}
		if !more || len(there) == 0 {
			if more {
				element += "/" + rest
			}
			if begin := strings.TrimSuffix(path, element); slices.Contains(above, begin) || len(above) > 1 {
				return path, nil
			}
			return above[0] + element, nil
		}
		for n := range there {
			there[n] += "/"
		}
		above = there
	}
	return path, nil
}

// below returns the existing paths for an element in any form, below some folders. asFolder selects
// folders.
func below[F File](s Set[F], above []string, element string, asFolder bool) (there []string, err error) {
	for _, folder := range above {
		for _, form := range Forms(element) {
			node, found, err := Lookup(s, folder+form)
			if err != nil {
				return nil, err
			}
			if found && (!asFolder || node.File == nil) && len(there) < mostForms {
				there = append(there, folder+form)
			}
		}
	}
	return there, nil
}
