package files

import (
	"cmp"
	"slices"
	"strings"

	"labshelf/metadata"
	"labshelf/repository/core"
)

// formatOf derives a format from the extension of a name: upper case, without the dot; "" where
// there is none.
func formatOf(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || len(name)-dot-1 > core.MaxFormatChars {
		return ""
	}
	return strings.ToUpper(name[dot+1:])
}

// DownloadName is under which name a download is offered: the last element of Name, which says what
// the file is called now, even if it has been renamed since it was uploaded as Filename. A title
// without an extension gets that of Filename, without which systems would not know what to open it
// with. A file whose record has no format any more was renamed to a name without an extension, and
// the extension of a temporary file says nothing. Where neither makes a name it is the id.
func DownloadName(r metadata.Resource) string {
	name := r.Name[strings.LastIndexAny(r.Name, `/\`)+1:]
	switch {
	case name == "" || name == "." || name == "..":
		return cmp.Or(r.Filename, r.ID.String())
	case formatOf(name) == "" && r.Format != "" && !isTemporary(formatOf(r.Filename)):
		return name + r.Filename[strings.LastIndexByte(r.Filename, '.'):]
	}
	return name
}

// temporary are extensions under which programs write a file before they rename it.
var temporary = []string{"", "TMP", "TEMP", "PART", "PARTIAL", "CRDOWNLOAD", "DOWNLOAD", "FILEPART", "BAK", "OLD", "ORIG", "SWP", "SWX", "NEW", "LOCK"}

// isTemporary reports whether a format is the extension of a temporary file: Makefile.tmp.123456.
func isTemporary(format string) bool {
	return slices.Contains(temporary, strings.TrimRight(format, "~")) || strings.Trim(format, "0123456789") == ""
}
