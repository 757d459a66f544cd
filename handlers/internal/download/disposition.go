package download

import (
	"fmt"
	"mime"
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

const sandboxed = "default-src 'none'; sandbox"

// contentSecurity returns the content security policy that keeps a file from acting in the name of
// the service. A PDF has no sandbox, since PDF viewers do not start in one.
func contentSecurity(mimetype string) string {
	const pdf = "application/pdf"
	if at := strings.TrimSpace(mimetype); len(at) < len(pdf) || !strings.EqualFold(at[:len(pdf)], pdf) { // the usual case, without parsing
		return sandboxed
	}
	if media, _, _ := mime.ParseMediaType(mimetype); media == pdf {
		return "default-src 'none'"
	}
	return sandboxed
}
