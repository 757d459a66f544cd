package dav

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"hash/adler32"
	"io"
	"net/http"
	"strings"

	"labshelf/blobs"
	"labshelf/errs"
	"labshelf/handlers/internal/body"
	"labshelf/repository"
)

// put answers PUT. The body comes to its end, is compared with what was announced of it, and is on stable storage before anything is to be seen of it.
func (d *Drive) put(w http.ResponseWriter, r *request) (err error) {
	switch {
	case r.Header.Get("Content-Range") != "":
		return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: "Content-Range", Message: "a PUT has the whole file: parts are not put together here"}
	case r.Header.Get("Content-Encoding") != "":
		return &errs.Error{Kind: errs.UnsupportedMedia, Code: errs.CodeUnsupportedMedia, Message: "a file comes as it is, without a Content-Encoding"}
	}
	if err := d.admit(r, r.path, false); err != nil {
		return err
	}
	upload := d.repo.NewUpload(r.caller)
	defer func() { _ = upload.Discard() }() // what is left of it goes at the next start
	check := d.matches(r)
	if err := upload.At(r.Context(), r.at, check); err != nil {
		return err
	}
	if isLitter(r.path) {
		return d.drop(w, r)
	}
	if err := receive(r, upload); err != nil {
		return err
	}
	put, created, err := upload.Put(r.Context(), r.at, repository.UploadFields{
		ContentType: r.Header.Get("Content-Type"), Names: repository.FieldNames{Name: "path", Filename: "path", ContentType: "Content-Type"},
	}, check)
	if err != nil {
		return err
	}
	w.Header().Set("Etag", Tag(put.Digest))
	status := http.StatusNoContent
	if created {
		status = http.StatusCreated
	}
	w.WriteHeader(status)
	return nil
}

// drop reads litter, which nobody will find, and answers as if it had been kept. Where there is a file of the name it is one like any other.
func (d *Drive) drop(w http.ResponseWriter, r *request) error {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return body.Error(err)
	}
	w.WriteHeader(http.StatusCreated)
	return nil
}

// receive reads the body into an upload, and compares it with what its headers say.
func receive(r *request, upload *repository.FormUpload) error {
	if limit := upload.Limit(); limit > 0 && r.ContentLength > limit {
		return &errs.Error{Kind: errs.TooLarge, Code: errs.CodeTooLarge, Message: "the file is larger than this service accepts"}
	}
	if err := upload.RoomFor(r.ContentLength); err != nil {
		return err
	}
	verify, err := body.Verifier(r.Request)
	if err != nil {
		return err
	}
	sums, err := announced(r.Header.Values("OC-Checksum"))
	if err != nil {
		return err
	}
	var sent io.Reader = uploaded{body.Reader{Body: r.Body}, sums}
	if r.ContentLength > 0 {
		sent = blobs.WithLength(sent, r.ContentLength)
	}
	if err := upload.Receive(r.Context(), sent); err != nil {
		return err
	}
	for _, sum := range sums {
		if got := hex.EncodeToString(sum.Sum(nil)); got != sum.want {
			return &errs.Error{Kind: errs.Invalid, Code: errs.CodeDigestMismatch, Field: "OC-Checksum",
				Message: "the body that arrived has the " + sum.algorithm + " " + got + ", not the one announced; nothing was stored"}
		}
	}
	if verify != nil {
		return verify()
	}
	return nil
}

// checksum is one that a client has announced, as it is computed.
type checksum struct {
	hash.Hash
	algorithm, want string
}

// checksums are the algorithms of OC-Checksum, which clients of ownCloud send.
var checksums = map[string]func() hash.Hash{
	"SHA256": sha256.New, "SHA1": sha1.New, "MD5": md5.New, "ADLER32": func() hash.Hash { return adler32.New() },
}

// announced reads OC-Checksum. An algorithm that is not known is no reason to refuse a file.
func announced(headers []string) (sums []checksum, err error) {
	for _, text := range strings.FieldsFunc(strings.Join(headers, " "), func(c rune) bool { return c == ' ' || c == ',' }) {
		algorithm, want, _ := strings.Cut(text, ":")
		algorithm, want = strings.ToUpper(algorithm), strings.ToLower(want)
		start := checksums[algorithm]
		if start == nil {
			continue
		}
		sum := checksum{start(), algorithm, want}
		if raw, err := hex.DecodeString(want); err != nil || len(raw) != sum.Size() {
			return nil, &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: "OC-Checksum", Message: "OC-Checksum must be " + algorithm + " and its hexadecimal digits, with a colon between"}
		}
		sums = append(sums, sum)
	}
	return sums, nil
}

// uploaded is a body that is hashed as it is read.
type uploaded struct {
	io.Reader
	sums []checksum
}

func (u uploaded) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	for _, sum := range u.sums {
		sum.Write(p[:n])
	}
	return n, err
}
