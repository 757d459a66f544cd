package download

import (
	"mime"
	"strings"
)

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
