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

// InlineType reports whether a browser may show a type in place: types that hold no script, or that
// it opens in a viewer of its own.
func InlineType(mimetype string) bool {
	media, _, _ := mime.ParseMediaType(mimetype)
	kind, sub, _ := strings.Cut(media, "/")
	switch kind {
	case "image", "audio", "video":
		return !strings.HasPrefix(sub, "svg") && !strings.HasSuffix(sub, "xml") // browsers take all of these for documents
	}
	return media == "application/pdf" || media == "text/plain"
}

// shownByContent are the types that browsers show in place and that hold no script, where the bytes
// of a file say so.
var shownByContent = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "application/pdf"}

// LikelyType returns the type as which SetType probably shows a file, without reading it: that of
// its record, or by its extension where programs send the recorded type for any file.
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

// SetType sets the media type and the disposition of a file: those of its record. A file that is to
// be shown in place, and whose recorded type a browser does not show, has the type of its bytes.
func SetType(header http.Header, resource metadata.Resource, file io.ReadSeeker, inline bool) error {
	media := resource.MimeType
	if inline && !InlineType(media) {
		head := make([]byte, 512)
		n, err := io.ReadFull(file, head)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			n = 0 // sending it finds the error again
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

// activeTypes are the media types that a browser executes or applies despite nosniff:
// https://mimesniff.spec.whatwg.org/#javascript-mime-type.
var activeTypes = []string{
	"application/ecmascript", "application/javascript", "application/x-ecmascript", "application/x-javascript", "text/css", "text/ecmascript",
	"text/javascript", "text/javascript1.0", "text/javascript1.1", "text/javascript1.2", "text/javascript1.3", "text/javascript1.4",
	"text/javascript1.5", "text/jscript", "text/livescript", "text/x-ecmascript", "text/x-javascript",
}

// inertType returns the Content-Type with which a file of an active type is sent. Browsers
// leave out Sec-Fetch-Dest over plain HTTP, so a request without it and without a key of its
// own gets scripts and style sheets as plain text.
func inertType(r *http.Request, kind string) string {
	if r.Header["Sec-Fetch-Dest"] != nil {
		return kind
	}
	sent := r.Header.Get("Authorization")
	if scheme, _, _ := strings.Cut(sent, " "); sent != "" && !strings.EqualFold(scheme, "Basic") { // which no browser adds on its own
		return kind
	}
	return "text/plain; charset=utf-8"
}

func isActiveType(kind string) bool {
	essence, _, _ := strings.Cut(kind, ";")
	return slices.Contains(activeTypes, strings.ToLower(strings.TrimSpace(essence)))
}
