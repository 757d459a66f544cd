package body

import (
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"io"
	"net/http"
	"strings"

	"labshelf/auth/errs"
	"labshelf/blobs"
)

// Verifier prepares the check of the request headers Content-Digest and Repr-Digest, which cover
// the complete body. The returned function reads the rest of the body and compares it. It is nil if
// no SHA-256 is announced.
func Verifier(r *http.Request) (verify func() error, err error) {
	want, err := announced(r.Header.Values, "")
	if err != nil || len(want) == 0 {
		return nil, err
	}
	hashed := &hashingBody{ReadCloser: r.Body, hash: sha256.New()}
	r.Body = hashed
	return func() error {
		if _, err := io.Copy(io.Discard, hashed); err != nil {
			return Error(err)
		}
		for _, digest := range want {
			if digest != blobs.Digest(hashed.hash.Sum(nil)) {
				return &errs.Error{Kind: errs.Invalid, Code: errs.CodeDigestMismatch,
					Message: "the SHA-256 of the received body differs from the SHA-256 in its header; nothing was stored"}
			}
		}
		return nil
	}, nil
}

type hashingBody struct {
	io.ReadCloser
	hash hash.Hash
}

func (b *hashingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.hash.Write(p[:n])
	return n, err
}

// announced returns the SHA-256 digests in Content-Digest and Repr-Digest (RFC 9530). It skips
// other algorithms, as the RFC requires.
func announced(header func(name string) []string, field string) (digests []blobs.Digest, err error) {
	for _, name := range []string{"Content-Digest", "Repr-Digest"} {
		for _, member := range strings.Split(strings.Join(header(name), ","), ",") {
			algorithm, value, _ := strings.Cut(strings.TrimSpace(member), "=")
			if algorithm != "sha-256" {
				continue
			}
			encoded, ok := strings.CutPrefix(value, ":")
			encoded, closed := strings.CutSuffix(encoded, ":")
			raw, err := base64.StdEncoding.DecodeString(encoded)
			if !ok || !closed || err != nil || len(raw) != sha256.Size {
				return nil, &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: field,
					Message: name + " must be sha-256=:BASE64: with the base64 of 32 bytes"}
			}
			digests = append(digests, blobs.Digest(raw))
		}
	}
	return digests, nil
}

// Announced returns the SHA-256 digests that a request announces for its body.
func Announced(r *http.Request) ([]blobs.Digest, error) {
	return announced(r.Header.Values, "Content-Digest")
}
