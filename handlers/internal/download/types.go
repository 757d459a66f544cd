package download

import (
	"io"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"

	"labshelf/handlers/internal/exchange"
	"labshelf/metadata"
	"labshelf/repository/files"
)

// InlineType reports whether a browser may show a type inline. Such types contain no script, or the
// browser opens them in its own viewer.
func InlineType(mimetype string) bool {
	media, _, _ := mime.ParseMediaType(mimetype)
	kind, sub, _ := strings.Cut(media, "/")
	switch kind {
	case "image", "audio", "video":
		return !strings.HasPrefix(sub, "svg") && !strings.HasSuffix(sub, "xml") // browsers treat all of these as documents
	}
	return media == "application/pdf" || media == "text/plain"
}

// shownByContent are the types without scripts that browsers show inline if the bytes of the file
// have the type.
var shownByContent = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "application/pdf"}

// LikelyType returns the type that SetType probably sets, without reading the file. It is the
// recorded type, or the type of the extension if programs send the recorded type for any file.
func LikelyType(f metadata.Resource) string {
	switch media, _, _ := mime.ParseMediaType(f.MimeType); media {
	case "application/octet-stream", "application/x-www-form-urlencoded", "binary/octet-stream":
		_, extension, _ := strings.Cut(strings.ToLower(path.Ext(files.DownloadName(f))), ".")
		if extension == "jpg" {
			extension = "jpeg"
		}
		if found := "image/" + extension; slices.Contains(shownByContent, found) {
			return found
		}
	}
	return f.MimeType
}

// SetType sets the recorded media type and disposition of a file. If the file is shown inline and
// browsers do not show its recorded type, SetType detects the type from the bytes.
func SetType(header http.Header, resource metadata.Resource, file io.ReadSeeker, inline bool) error {
	media := resource.MimeType
	if inline && !InlineType(media) {
		head := make([]byte, 512)
		n, err := io.ReadFull(file, head)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			n = 0 // sending reports the error again
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if found := http.DetectContentType(head[:n]); slices.Contains(shownByContent, found) {
			media = found
		}
	}
	exchange.SetAll(header, "Content-Type", media, "Content-Disposition", contentDisposition(resource, inline && InlineType(media)))
	return nil
}

// activeTypes are the media types that browsers execute or apply despite nosniff:
// https://mimesniff.spec.whatwg.org/#javascript-mime-type.
var activeTypes = []string{
	"application/ecmascript", "application/javascript", "application/x-ecmascript", "application/x-javascript", "text/css", "text/ecmascript",
	"text/javascript", "text/javascript1.0", "text/javascript1.1", "text/javascript1.2", "text/javascript1.3", "text/javascript1.4",
	"text/javascript1.5", "text/jscript", "text/livescript", "text/x-ecmascript", "text/x-javascript",
}

// inertType returns the Content-Type for a file with an active type. Browsers omit Sec-Fetch-Dest
// over plain HTTP. So a request without it and without a key in a header gets scripts and style
// sheets as plain text.
func inertType(r *http.Request, kind string) string {
	if r.Header["Sec-Fetch-Dest"] != nil {
		return kind
	}
	sent := r.Header.Get("Authorization")
	if scheme, _, _ := strings.Cut(sent, " "); sent != "" && !strings.EqualFold(scheme, "Basic") { // browsers never add such a key themselves
		return kind
	}
	return "text/plain; charset=utf-8"
}

func isActiveType(kind string) bool {
	essence, _, _ := strings.Cut(kind, ";")
	return slices.Contains(activeTypes, strings.ToLower(strings.TrimSpace(essence)))
}
