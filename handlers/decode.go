package handlers

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"unicode/utf8"

	"labshelf/blobs"
	"labshelf/errs"
	"labshelf/repository"
)

// Bounds of a JSON body.
const (
	maxJSON  = 1 << 20 // bytes
	maxDepth = 16      // objects and arrays within each other
)

func invalidBody(format string, args ...any) *errs.Error {
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidBody, Message: fmt.Sprintf(format, args...)}
}

// bodyError says what went wrong while a body was read.
func bodyError(err error) error {
	var known *errs.Error
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.As(err, &tooLarge):
		return &errs.Error{Kind: errs.TooLarge, Code: errs.CodeTooLarge,
			Message: fmt.Sprintf("the body is larger than the %d bytes that are read here", tooLarge.Limit), Err: err}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &errs.Error{Kind: errs.TimedOut, Code: errs.CodeTimeout, Message: "the body stopped coming, or came too slowly", Err: err}
	}
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidBody, Message: "the body is cut off or malformed", Err: err}
}

// mediaType returns the media type of the body and its parameters, and refuses one that is not the wanted one.
func mediaType(r *request, want string) (map[string]string, error) {
	sent := r.Header.Get("Content-Type")
	media, params, err := mime.ParseMediaType(sent)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || media != want || r.Header.Get("Content-Encoding") != "" {
		return nil, &errs.Error{Kind: errs.UnsupportedMedia, Code: errs.CodeUnsupportedMedia,
			Message: "the body of this request must be " + want + ", without a Content-Encoding"}
	}
	return params, nil
}

// errNoBody is what a request without a body gets where it must have one.
var errNoBody error = invalidBody("the body is empty; it must be a JSON object")

// readFields reads a JSON object. A body without Content-Type is taken for JSON.
func readFields(w http.ResponseWriter, r *request) (repository.Fields, error) {
	if r.ContentLength == 0 {
		return nil, errNoBody
	}
	if r.Header.Get("Content-Type") != "" || r.Header.Get("Content-Encoding") != "" {
		if _, err := mediaType(r, "application/json"); err != nil {
			return nil, err
		}
	}
	if r.ContentLength > maxJSON {
		return nil, bodyError(&http.MaxBytesError{Limit: maxJSON})
	}
	check, err := wholeBody(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(plainWriter(w), r.Body, maxJSON))
	if err != nil {
		return nil, bodyError(err)
	}
	if err := check(); err != nil {
		return nil, err
	}
	if len(body) == 0 {
		return nil, errNoBody
	}
	return parseObject(body)
}

// plainWriter is the server's own writer: MaxBytesReader tells it, and only it, to close the connection.
func plainWriter(w http.ResponseWriter) http.ResponseWriter {
	for {
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return w
		}
		w = wrapper.Unwrap()
	}
}

// parseObject decodes one JSON object, strictly: UTF-8, no field twice, nothing after it, not too deep.
func parseObject(body []byte) (repository.Fields, error) {
	if !utf8.Valid(body) {
		return nil, invalidBody("the body is not valid UTF-8")
	}
	if halfSurrogate(body) {
		return nil, invalidBody("the body has half a surrogate pair; it stands for no character")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	value, err := parseValue(decoder, "", 0)
	if err != nil {
		return nil, jsonError(err, decoder.InputOffset())
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, invalidBody("there is something after the JSON object, at byte %d", decoder.InputOffset())
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, invalidBody("the body must be a JSON object")
	}
	return object, nil
}

func jsonError(err error, at int64) error {
	var known *errs.Error
	switch {
	case errors.As(err, &known):
		return err
	}
	return invalidBody("the body is not valid JSON near byte %d", at)
}

// parseValue decodes the next value. field is the outermost field that it belongs to.
func parseValue(decoder *json.Decoder, field string, depth int) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	delim, nested := token.(json.Delim)
	if !nested {
		return token, nil
	}
	if depth++; depth > maxDepth {
		bad := invalidBody("the body nests deeper than %d levels", maxDepth)
		bad.Field = repository.Shorten(field)
		return nil, bad
	}
	if delim == '[' {
		return parseArray(decoder, field, depth)
	}
	return parseMembers(decoder, field, depth)
}

func parseArray(decoder *json.Decoder, field string, depth int) (any, error) {
	items := []any{}
	for decoder.More() {
		item, err := parseValue(decoder, field, depth)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := decoder.Token()
	return items, err
}

func parseMembers(decoder *json.Decoder, field string, depth int) (any, error) {
	object := map[string]any{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		outermost := field
		if depth == 1 {
			outermost = name
		}
		if _, twice := object[name]; twice {
			bad := invalidBody("a field is there twice")
			bad.Field = repository.Shorten(outermost)
			return nil, bad
		}
		if object[name], err = parseValue(decoder, outermost, depth); err != nil {
			return nil, err
		}
	}
	_, err := decoder.Token()
	return object, err
}

// halfSurrogate finds an escape such as \ud800 without its other half; decoders silently put another character in its place.
func halfSurrogate(body []byte) bool {
	surrogate := func(at int) byte { // 'h'igh, 'l'ow or 0
		if at+6 > len(body) || body[at] != '\\' || body[at+1] != 'u' || body[at+2]|0x20 != 'd' {
			return 0
		}
		switch c := body[at+3] | 0x20; {
		case c >= '8' && c <= '9', c >= 'a' && c <= 'b':
			return 'h'
		case c >= 'c' && c <= 'f':
			return 'l'
		}
		return 0
	}
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		switch surrogate(i) {
		case 'l':
			return true
		case 'h':
			if surrogate(i+6) != 'l' {
				return true
			}
			i += 11
		default:
			i++ // the character after a backslash is not the start of another escape
		}
	}
	return false
}

// wholeBody prepares the check of Content-Digest and Repr-Digest among the request headers, which cover the whole body. The
// returned function is called when the body has been read to its end.
func wholeBody(r *request) (check func() error, err error) {
	want, err := announced(r.Header.Values, "")
	if err != nil || len(want) == 0 {
		return func() error { return nil }, err
	}
	hashed := &hashingBody{ReadCloser: r.Body, hash: sha256.New()}
	r.Body = hashed
	return func() error {
		if _, err := io.Copy(io.Discard, hashed); err != nil {
			return bodyError(err)
		}
		for _, digest := range want {
			if digest != blobs.Digest(hashed.hash.Sum(nil)) {
				return &errs.Error{Kind: errs.Invalid, Code: errs.CodeDigestMismatch,
					Message: "the body that arrived has another SHA-256 than its header announces; nothing was kept"}
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

// announced returns the SHA-256 digests in Content-Digest and Repr-Digest (RFC 9530). Other algorithms are skipped, as the
// RFC wants it.
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
