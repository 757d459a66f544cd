// Package tus serves chunked uploads with the protocol tus 1.0 (tus.io/protocols/resumable-upload).
// It reads and writes the headers, and reads the chunks in requests. Its errors are [errs.Error].
package tus

import (
	"net/http"
	"strconv"
	"strings"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/repository/files"
)

// Headers and values of the protocol.
const (
	Resumable  = "Tus-Resumable"
	Version    = "1.0.0"
	Offset     = "Upload-Offset"
	extensions = "creation,creation-with-upload,expiration,termination,checksum"
	chunkType  = "application/offset+octet-stream"

	digestHeader = "Labshelf-SHA256" // an addition of labshelf

	maxMetadata = 36 << 10 // bytes of Upload-Metadata: the longest texts in base64, and the rest
)

// CheckVersion returns an error for requests with another version of the protocol. A GET may omit
// the version, since it only reads. On an error, CheckVersion sets the supported version in answer.
func CheckVersion(answer http.Header, r *http.Request) error {
	if sent := r.Header.Get(Resumable); sent == Version || r.Method == http.MethodGet && sent == "" {
		return nil
	}
	answer.Set("Tus-Version", Version)
	return &errs.Error{Kind: errs.Precondition, Code: errs.CodeTusVersion, Field: Resumable,
		Message: "uploads use the tus protocol: send " + Resumable + ": " + Version}
}

// Describe sets the headers that describe the supported protocol. maxSize is the size of the
// largest upload in bytes; 0 means no limit.
func Describe(header http.Header, maxSize int64) {
	header.Set(Resumable, Version)
	header.Set("Tus-Version", Version)
	header.Set("Tus-Extension", extensions)
	header.Set("Tus-Checksum-Algorithm", "sha1,sha256,md5")
	if maxSize > 0 {
		header.Set("Tus-Max-Size", strconv.FormatInt(maxSize, 10))
	}
}

// ReadStart returns the new upload that the headers of a request describe.
func ReadStart(r *http.Request) (start files.UploadStart, err error) {
	if r.Header.Get("Upload-Defer-Length") != "" {
		return start, InvalidHeader("Upload-Defer-Length", "the length of a file must be known in advance: send Upload-Length")
	}
	if r.Header.Get("Upload-Concat") != "" {
		return start, InvalidHeader("Upload-Concat", "concatenation is not supported: send the file as one upload")
	}
	if start.Length, err = ReadLength(r, "Upload-Length"); err != nil {
		return start, err
	}
	if err = readMetadata(strings.Join(r.Header.Values("Upload-Metadata"), ","), &start); err != nil {
		return start, err
	}
	digest, err := readDigest(r)
	if fields := &start.Fields; err == nil && digest != (blobs.Digest{}) {
		if len(fields.Expected) > 0 && fields.Expected[0] != digest {
			return start, &errs.Error{Kind: errs.Invalid, Code: errs.CodeDigestMismatch, Field: digestHeader,
				Message: "Upload-Metadata has another sha256"}
		}
		fields.Expected = []blobs.Digest{digest}
	}
	return start, err
}

// ReadLength returns the value of a header that holds a number of bytes.
func ReadLength(r *http.Request, name string) (int64, error) {
	sent := r.Header.Values(name)
	if len(sent) == 0 {
		return 0, &errs.Error{Kind: errs.Invalid, Code: errs.CodeMissingField, Field: name, Message: name + " is missing"}
	}
	n, err := strconv.ParseUint(sent[0], 10, 63)
	if err != nil || len(sent) > 1 {
		return 0, InvalidHeader(name, name+" must be one number of bytes, 0 to 9223372036854775807")
	}
	return int64(n), nil
}

// InvalidHeader returns the error for an invalid header.
func InvalidHeader(name, message string) *errs.Error {
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: name, Message: message}
}
