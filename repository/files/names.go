package files

import (
	"cmp"
	"slices"
	"strings"

	"labshelf/metadata"
	"labshelf/repository/core"
)

// formatOf derives a format from the extension of a name: in upper case, without the dot, ""
// without an extension.
func formatOf(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || len(name)-dot-1 > core.MaxFormatChars {
		return ""
	}
	return strings.ToUpper(name[dot+1:])
}

// DownloadName returns the file name for downloads. It is the last element of Name, the present
// name of the file, which may differ from the Filename of the upload. A name without an extension
// gets the extension of Filename, so that systems know how to open the file. It does not get one if
// the record has no format, because the file was then renamed to a name without an extension, or if
// the extension belongs to a temporary file. If Name has no usable last element, DownloadName
// returns Filename or the id.
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

// temporary lists extensions of files that programs rename after writing them.
var temporary = []string{"", "TMP", "TEMP", "PART", "PARTIAL", "CRDOWNLOAD", "DOWNLOAD", "FILEPART", "BAK", "OLD", "ORIG", "SWP", "SWX", "NEW", "LOCK"}

// isTemporary reports whether a format is the extension of a temporary file, as in
// Makefile.tmp.123456.
func isTemporary(format string) bool {
	return slices.Contains(temporary, strings.TrimRight(format, "~")) || strings.Trim(format, "0123456789") == ""
}
