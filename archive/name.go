// Package archive puts files into a zip, and says under which path each of them goes: there, and wherever else a file is written
// under the name that a resource has. It knows nothing of where files come from.
package archive

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of a path. Windows and most file systems of Unix end an element at 255, macOS a path at 1,024; what a path is put below
// takes some of that.
const (
	maxElement = 255 // bytes
	maxPath    = 960 // bytes
	maxDepth   = 32  // elements
)

// maxExtension is up to how many bytes, with its dot, the end of a name counts as its extension.
const maxExtension = 33

// Clean returns the safe relative path for the name of a resource: one that every system can write, and that leads nowhere but
// below the folder it is put in. Elements are separated by /. It is "" where nothing is left of the name. Clean(Clean(x)) is
// Clean(x).
func Clean(name string) string {
	return strings.Join(elements(name), "/")
}

// elements is Clean, not yet joined. Of what is too long or too deep the innermost folders go: the first ones say most, and the last
// element is the file.
func elements(name string) []string {
	var clean []string
	for part := range strings.FieldsFuncSeq(name, func(c rune) bool { return c == '/' || c == '\\' }) {
		if part = cleanElement(part); part != "" {
			clean = append(clean, part)
		}
	}
	for len(clean) > maxDepth || length(clean) > maxPath {
		clean = append(clean[:len(clean)-2], clean[len(clean)-1])
	}
	return clean
}

// length is that of the joined path.
func length(elements []string) int {
	n := len(elements) - 1
	for _, element := range elements {
		n += len(element)
	}
	return n
}

// cleanElement makes one element safe; "" where nothing is left. What one rule does may be another's business (CON and 300 spaces,
// cut off), so they take turns until none of them has anything to do.
func cleanElement(element string) string {
	element = strings.Map(safeRune, strings.ToValidUTF8(element, "_"))
	for {
		next := strings.TrimRight(shorten(element, ""), ". ")
		if reserved(next) {
			next = "_" + next
		}
		if next == element {
			return element
		}
		element = next
	}
}

// safeRune replaces what Windows does not write, and what a terminal or a reader takes for something else than it is.
func safeRune(c rune) rune {
	if strings.ContainsRune(`<>:"|?*/\`, c) || unicode.IsControl(c) || unicode.In(c, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
		return '_'
	}
	return c
}

// devices are names that Windows takes for devices, in every folder and with every extension.
const devices = " CON PRN AUX NUL CONIN$ CONOUT$ "

func reserved(element string) bool {
	base, _, _ := strings.Cut(element, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	port, numbered := strings.CutPrefix(base, "COM")
	if !numbered {
		port, numbered = strings.CutPrefix(base, "LPT")
	}
	if numbered && utf8.RuneCountInString(port) == 1 && strings.Contains("0123456789¹²³", port) {
		return true
	}
	return base != "" && !strings.Contains(base, " ") && strings.Contains(devices, " "+base+" ")
}

// shorten puts an addition before the extension and cuts what comes before it, between two characters, to what may be there.
func shorten(element, addition string) string {
	stem, extension := element, ""
	if dot := strings.LastIndexByte(element, '.'); dot > 0 && len(element)-dot <= maxExtension {
		stem, extension = element[:dot], element[dot:]
	}
	room := maxElement - len(addition) - len(extension)
	if len(stem) > room {
		for !utf8.RuneStart(stem[room]) {
			room--
		}
		stem = stem[:room]
	}
	return stem + addition + extension
}
