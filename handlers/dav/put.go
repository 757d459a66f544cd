package dav

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/handlers/internal/body"
	"labshelf/repository/files"
	"labshelf/repository/folders"
)

// put answers PUT. It reads the whole body, compares it with the announced length and checksums,
// and writes it to stable storage. Only then does the file become visible.
func (d *Drive) put(w http.ResponseWriter, r *request) (err error) {
	switch {
	case r.Header.Get("Content-Range") != "":
		return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: "Content-Range", Message: "a PUT must contain the whole file; partial uploads are not supported here"}
	case r.Header.Get("Content-Encoding") != "":
		return &errs.Error{Kind: errs.UnsupportedMedia, Code: errs.CodeUnsupportedMedia, Message: "a file must be sent without a Content-Encoding"}
	}
	if err := d.admit(r, r.path, false); err != nil {
		return err
	}
	upload := d.repo.Uploads.NewUpload(r.caller)
	defer func() { _ = upload.Discard() }() // the next start removes what remains
	admits, matches := d.guard(r, r.path, false), d.matches(r)
	check := func(e *folders.DriveEntry) error { // runs again after the body, which may take long to arrive
		if err := admits(e.Missing == folders.Present); err != nil {
			return err
		}
		return matches(e)
	}
	if err := d.repo.Drive.AdmitAt(r.Context(), upload, r.at, check); err != nil {
		return err
	}
	if isSystemFile(r.path) {
		return d.drop(w, r)
	}
	modified, err := modifiedOf(r)
	if err != nil {
		return err
	}
	sums, err := receive(r, upload)
	if err != nil {
		return err
	}
	if err := d.meetLocks(r); err != nil {
		return err
	}
	put, created, err := d.repo.Drive.PutAt(r.Context(), upload, r.at, files.UploadFields{
		ContentType: r.Header.Get("Content-Type"), Names: files.FieldNames{Name: "path", Filename: "path", ContentType: "Content-Type"},
		Attributes: files.Attributes{Modified: modified, Field: ocTime, Checksums: sums},
	}, check)
	if err != nil {
		return err
	}
	w.Header().Set("Etag", Tag(put.Digest))
	if modified != nil {
		w.Header().Set(ocTime, "accepted")
	}
	status := http.StatusNoContent
	if created {
		status = http.StatusCreated
	}
	w.WriteHeader(status)
	return nil
}

// drop reads and discards a system file, and answers as if it had been stored. Such a name that
// already exists is an ordinary file.
func (d *Drive) drop(w http.ResponseWriter, r *request) error {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return body.Error(err)
	}
	w.WriteHeader(http.StatusCreated)
	return nil
}

// receive reads the body into an upload, and compares it with its headers. If the client announces
// a checksum, receive returns the checksums of the body, because such a client compares them later.
func receive(r *request, upload *files.Upload) (*files.Checksums, error) {
	if limit := upload.Limit(); limit > 0 && r.ContentLength > limit {
		return nil, &errs.Error{Kind: errs.TooLarge, Code: errs.CodeTooLarge, Message: "the file is larger than this service accepts"}
	}
	if err := upload.RoomFor(r.ContentLength); err != nil {
		return nil, err
	}
	verify, err := body.Verifier(r.Request)
	if err != nil {
		return nil, err
	}
	announced, err := announced(r.Header.Values("OC-Checksum"))
	if err != nil {
		return nil, err
	}
	var sent io.Reader = body.Reader{Body: r.Body}
	var sums *summing
	if announced != nil {
		sums = newSumming(sent, announced)
		defer sums.end()
		sent = sums
	}
	if r.ContentLength > 0 {
		sent = blobs.WithLength(sent, r.ContentLength)
	}
	if err := upload.Receive(r.Context(), sent); err != nil {
		return nil, err
	}
	if verify != nil {
		if err := verify(); err != nil {
			return nil, err
		}
	}
	return sums.compare(announced)
}

// ocTime is the header in which ownCloud and Nextcloud clients send the modification time of a
// file.
const ocTime = "X-Oc-Mtime"

// modifiedOf parses X-OC-Mtime: seconds since 1970, with an optional fraction. It returns nil if
// the header is missing.
func modifiedOf(r *request) (*time.Time, error) {
	text := r.Header.Get(ocTime)
	if text == "" {
		return nil, nil
	}
	at, ok := parseSeconds(text)
	if !ok {
		return nil, &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: ocTime, Message: "X-OC-Mtime must be a number of seconds since 1970"}
	}
	return &at, nil
}

func parseSeconds(text string) (at time.Time, ok bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || len(fraction) > 9 || strings.Trim(fraction, "0123456789") != "" || seconds < -1<<36 || seconds > 1<<38 {
		return at, false
	}
	nanos, _ := strconv.ParseInt((fraction + "000000000")[:9], 10, 64) // only digits
	if strings.HasPrefix(whole, "-") {
		nanos = -nanos
	}
	return time.Unix(seconds, nanos).UTC(), true
}
