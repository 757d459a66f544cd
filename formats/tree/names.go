// Package tree shows the files of a set as a tree of folders: which path each file has, and which
// file a path means. Folders come from the slashes in names; some were made by themselves. It reads
// them through an interface of a few methods, and knows nothing of where they are.
//
// # Names and paths
//
// A name such as raw/2026/scan.tif is the file scan.tif in the folder raw/2026. Where an element of
// a name is none that every client can use (it is empty, . or .., longer than 255 bytes, has a
// backslash or a control character, or ends as the names below do), the rest of the name from there
// on is one element: slashes, backslashes and control characters become _, and the id follows. So
// a//b.txt is the file _b (ID).txt in the folder a.
//
// Of files with one name the oldest has it, and the younger ones have ` (ID)` before the extension.
// So has a file beside a folder of its name. Whatever a file's name is, the name with ` (ID)`
// reaches it; where another file is called that, that one has its own id added. Case is kept, and
// names that differ in case only are two names.
//
// Each file has exactly one path that is listed, and it is the inverse of Lookup. An older file
// that comes, or goes, changes the path of a younger one of the same name.
package tree

import (
	"strings"
	"unicode/utf8"
)

const (
	maxElement   = 255 // bytes, as most file systems have it
	maxExtension = 33  // bytes, with its dot
	idLength     = 26  // of an id as a text
	open, closed = " (", ")"
)

// Split returns the folder that a name puts its file into, "" or a path that ends in a slash, and
// the rest of the name. Plain: the rest is an element that can be shown as it is.
func Split(name string) (folder, rest string, plain bool) {
	at := 0
	for {
		element, _, more := strings.Cut(name[at:], "/")
		if !more {
			return name[:at], name[at:], usable(element)
		}
		if !IsFolder(element) {
			return name[:at], name[at:], false
		}
		at += len(element) + 1
	}
}

// IsFolder tells whether an element can be that of a folder: one that ends like a name with an id
// is not, since that means a file.
func IsFolder(element string) bool {
	_, like := idIn(element)
	return usable(element) && !like
}

// usable tells whether every client can use the element.
func usable(element string) bool {
	return element != "" && element != "." && element != ".." && len(element) <= maxElement &&
		utf8.ValidString(element) && !strings.ContainsFunc(element, unsafe)
}

func unsafe(c rune) bool { return c == '/' || c == '\\' || c < ' ' || c >= 0x7f && c < 0xa0 }

// WithID is how the rest of a name is shown with an id: in front of its extension, cut to the
// greatest length of an element.
func WithID(rest, id string) string {
	element := strings.Map(func(c rune) rune {
		if unsafe(c) {
			return '_'
		}
		return c
	}, strings.ToValidUTF8(rest, "_"))
	if element == "" {
		element = "_"
	}
	stem, extension := element, ""
	if dot := extensionAt(element); dot > 0 {
		stem, extension = element[:dot], element[dot:]
	}
	if room := maxElement - len(open) - idLength - len(closed) - len(extension); len(stem) > room {
		for !utf8.RuneStart(stem[room]) {
			room--
		}
		stem = stem[:room]
	}
	return stem + open + id + closed + extension
}

// extensionAt is where the extension of an element begins, with its dot; 0: it has none. No
// extension has a space or a bracket, so that an id in front of one is told from an id at the end.
func extensionAt(element string) int {
	dot := strings.LastIndexByte(element, '.')
	if dot <= 0 || len(element)-dot > maxExtension || dot == len(element)-1 || strings.ContainsAny(element[dot:], " ()") {
		return 0
	}
	return dot
}

// idIn returns the id that an element has in front of its extension, if it is like what WithID
// returns.
func idIn(element string) (id string, ok bool) {
	if dot := extensionAt(element); dot > 0 {
		element = element[:dot]
	}
	begin := len(element) - len(closed) - idLength
	if begin < len(open) || element[begin-len(open):begin] != open || !strings.HasSuffix(element, closed) {
		return "", false
	}
	id = element[begin : begin+idLength]
	return id, strings.Trim(id, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") == ""
}
