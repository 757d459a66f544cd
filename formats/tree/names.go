// Package tree shows the files of a set as a tree of folders. It defines the path of each file, and
// resolves paths to files. Folders come from the slashes in names; some folders were created
// explicitly. The package reads files and folders through an interface of a few methods.
//
// # Names and paths
//
// A name such as raw/2026/scan.tif is the file scan.tif in the folder raw/2026. Some elements
// cannot be used by every client: they are empty, . or .., longer than 255 bytes, contain a
// backslash or a control character, or end as the names below do. Then the rest of the name from
// there on is one element: slashes, backslashes and control characters become _, and the id is
// added. So a//b.txt is the file _b (ID).txt in the folder a.
//
// Of several files with one name the oldest has the plain path, and the newer ones have ` (ID)`
// before the extension. The same holds for a file next to a folder with its name. Every file can be
// reached by its name with ` (ID)`; if another file has that name, its own id is added to its path.
// Case is kept, and names that differ only in case are different names.
//
// Each file has exactly one path in listings, and it is the inverse of Lookup. When an older file
// appears or disappears, the path of a newer one with the same name changes.
package tree

import (
	"strings"
	"unicode/utf8"
)

const (
	maxElement   = 255 // bytes, as on most file systems
	maxExtension = 33  // bytes, with its dot
	idLength     = 26  // of an id in text form
	open, closed = " (", ")"
)

// Split returns the folder of a name, "" or a path ending in a slash, and the rest of the name.
// plain reports whether the rest is a usable element.
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

// IsFolder reports whether an element can be a folder. An element that ends like a name with an id
// refers to a file.
func IsFolder(element string) bool {
	_, like := idIn(element)
	return usable(element) && !like
}

// usable reports whether every client can use the element.
func usable(element string) bool {
	return element != "" && element != "." && element != ".." && len(element) <= maxElement &&
		utf8.ValidString(element) && !strings.ContainsFunc(element, unsafe)
}

func unsafe(c rune) bool { return c == '/' || c == '\\' || c < ' ' || c >= 0x7f && c < 0xa0 }

// WithID returns the rest of a name with an id before its extension, truncated to the greatest
// length of an element.
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

// extensionAt returns the index of the extension with its dot, or 0. An extension contains no space
// or bracket, so that an id before it differs from an id at the end.
func extensionAt(element string) int {
	dot := strings.LastIndexByte(element, '.')
	if dot <= 0 || len(element)-dot > maxExtension || dot == len(element)-1 || strings.ContainsAny(element[dot:], " ()") {
		return 0
	}
	return dot
}

// idIn returns the id before the extension of an element that looks like a result of WithID.
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

// Path returns the path of a file.
func Path[F File](s Set[F], file F) (string, error) {
	id, name := file.Named()
	folder, rest, plain := Split(name)
	if plain {
		for first, err := range s.Files(name, Position{Name: name}) {
			if err != nil {
				return "", err
			}
			oldest, of := first.Named()
			plain = oldest == id && of == name
			break
		}
	}
	element, err := shown(s, folder, rest, id, plain)
	return folder + element, err
}

// shown returns the element of a file. oldest reports that its name is plain and that no older file
// has the same name.
func shown[F File](s Set[F], folder, rest, id string, oldest bool) (string, error) {
	if oldest {
		other, _, err := withID(s, folder, rest)
		if err != nil {
			return "", err
		}
		taken := false
		if !other && IsFolder(rest) {
			taken, err = Exists(s, folder+rest+"/")
		}
		if !other && !taken {
			return rest, err
		}
	}
	return WithID(rest, id), nil
}

// withID finds the file of a folder that an element with an id refers to.
func withID[F File](s Set[F], folder, element string) (found bool, file F, err error) {
	id, like := idIn(element)
	if !like {
		return false, file, nil
	}
	file, found, err = s.ByID(id)
	if err != nil || !found {
		return false, file, err
	}
	_, name := file.Named()
	in, rest, _ := Split(name)
	return in == folder && WithID(rest, id) == element, file, nil
}
