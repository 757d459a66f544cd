// Package archive writes files to a zip, and assigns each a path. Other downloads of files under
// the names of resources use the same paths. It does not depend on the source of the files.
package archive

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of a path. Windows and most file systems of Unix limit an element to 255 bytes, macOS
// a path to 1,024. The rest is for the folder above the path.
const (
	maxElement = 255 // bytes
	maxPath    = 960 // bytes
	maxDepth   = 32  // elements
)

// maxExtension is the longest extension of a name, in bytes, with its dot.
const maxExtension = 33

// Clean returns the safe relative path for the name of a resource: every system can write it, and
// it does not leave its folder. Elements are separated by /. It is "" if no safe character is left.
// Clean(Clean(x)) is Clean(x).
func Clean(name string) string {
	return strings.Join(elements(name), "/")
}

// elements returns the elements of Clean. If the path is too long or too deep, it omits the
// innermost folders.
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

// length returns the length of the joined path.
func length(elements []string) int {
	n := len(elements) - 1
	for _, element := range elements {
		n += len(element)
	}
	return n
}

// cleanElement makes one element safe; the result is "" if no character is left. The result of one
// rule can violate another one (CON and 300 spaces, truncated), so the rules are repeated until
// nothing changes.
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

// safeRune replaces characters that Windows does not allow, and those that a terminal or a reader
// would misinterpret.
func safeRune(c rune) rune {
	if strings.ContainsRune(`<>:"|?*/\`, c) || unicode.IsControl(c) || unicode.In(c, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
		return '_'
	}
	return c
}

// devices are names of devices on Windows, in every folder and with every extension.
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

// shorten inserts an addition before the extension. It truncates the text before it between two
// characters, to stay within maxElement.
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
