package dav

import (
	"errors"
	"strings"
)

// errSystemFile ends a transaction without changes: files that macOS or Windows create for their
// own use are not stored.
var errSystemFile = errors.New("files that macOS or Windows create for their own use are not stored")

// isSystemFile reports whether a path is a file that macOS or Windows creates for its own use.
func isSystemFile(path string) bool {
	element := path[strings.LastIndexByte(path, '/')+1:]
	return strings.HasPrefix(element, "._") || element == ".DS_Store" || strings.EqualFold(element, "Thumbs.db") || strings.EqualFold(element, "desktop.ini")
}
