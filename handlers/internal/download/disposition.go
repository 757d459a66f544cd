package download

import (
	"fmt"
	"strings"

	"labshelf/metadata"
	"labshelf/repository/files"
)

// contentDisposition returns the header that names the file for the client.
func contentDisposition(resource metadata.Resource, inline bool) string {
	kind := "attachment"
	if inline {
		kind = "inline"
	}
	return SaveAs(kind, files.DownloadName(resource))
}

// SaveAs returns a Content-Disposition (RFC 6266) with the name in ASCII and unchanged.
func SaveAs(kind, name string) string {
	ascii := strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' || strings.ContainsRune(`"\%`, c) {
			return '_'
		}
		return c
	}, name)
	value := kind + `; filename="` + ascii + `"`
	if ascii != name {
		value += "; filename*=UTF-8''" + percentEncode(name)
	}
	return value
}

// percentEncode encodes a name as RFC 8187 requires.
func percentEncode(name string) string {
	var out strings.Builder
	for _, c := range []byte(name) {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("!#$&+-.^_`|~", c) >= 0 {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}
