package handlers

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

// inlineType tells what a browser may show in place: types that hold no script, or that it opens in
// a viewer of its own.
func inlineType(mimetype string) bool {
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

// likelyType returns the type as which setType probably shows a file, without reading it: that of
// its record, or by its extension where programs send the recorded type for any file.
func likelyType(f metadata.Resource) string {
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

// setType sets the media type and the disposition of a file: those of its record. A file that is to
// be shown in place, and whose recorded type a browser does not show, has the type of its bytes.
func setType(header http.Header, resource metadata.Resource, file io.ReadSeeker, inline bool) error {
	media := resource.MimeType
	if inline && !inlineType(media) {
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
	exchange.SetAll(header, "Content-Type", media, "Content-Disposition", contentDisposition(resource, inline && inlineType(media)))
	return nil
}
