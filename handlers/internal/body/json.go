package body

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"labshelf/auth/errs"
	"labshelf/repository/core"
)

// MaxCSV limits the bytes of a CSV body.
const MaxCSV = 32 << 20

// Bounds of a JSON body.
const (
	maxJSON  = 1 << 20 // bytes
	maxDepth = 16      // nested objects and arrays
)

// ErrEmpty is the error of a request that requires a body but has none.
var ErrEmpty error = Invalid("the body is empty; it must be a JSON object")

// Object is a decoded JSON object. Its values are string, bool, json.Number, nil, []any and
// map[string]any. The members metadata and schema are json.RawMessage.
type Object = map[string]any

// Fields reads a JSON object. A body without Content-Type counts as JSON.
func Fields(w http.ResponseWriter, r *http.Request) (Object, error) {
	if empty, err := Empty(r); err != nil {
		return nil, err
	} else if empty {
		return nil, ErrEmpty
	}
	if r.Header.Get("Content-Type") != "" || r.Header.Get("Content-Encoding") != "" {
		if _, err := MediaType(r, "application/json"); err != nil {
			return nil, err
		}
	}
	if r.ContentLength > maxJSON {
		return nil, Error(&http.MaxBytesError{Limit: maxJSON})
	}
	text, err := whole(w, r, maxJSON)
	if err != nil {
		return nil, err
	}
	return parseObject(text)
}

// CSV reads a body of type text/csv, unparsed.
func CSV(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if _, err := MediaType(r, "text/csv"); err != nil {
		return nil, err
	}
	if r.ContentLength > MaxCSV {
		return nil, Error(&http.MaxBytesError{Limit: MaxCSV})
	}
	return whole(w, r, MaxCSV)
}

// whole reads a body of up to limit bytes, and verifies the announced digests.
func whole(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	verify, err := Verifier(r)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(http.MaxBytesReader(serverWriter(w), r.Body, limit))
	if err != nil {
		return nil, Error(err)
	}
	if verify != nil {
		err = verify()
	}
	return text, err
}

// serverWriter returns the server's own writer. MaxBytesReader needs it to close the connection.
func serverWriter(w http.ResponseWriter) http.ResponseWriter {
	for {
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return w
		}
		w = wrapper.Unwrap()
	}
}

// raw are the members of the outermost object that stay encoded, because the use case merges or
// compiles them.
var raw = []jsontext.Pointer{"/metadata", "/schema"}

// strict keeps the spelling of numbers, and bounds the depth. encoding/json/v2, of which this
// package uses a copy until Go includes it, already refuses invalid UTF-8, unpaired surrogates and
// duplicate names.
var strict = jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(func(decoder *jsontext.Decoder, v *any) error {
	switch kind := decoder.PeekKind(); {
	case kind == jsontext.KindNumber:
		number, err := decoder.ReadValue()
		*v = json.Number(number)
		return err
	case kind != jsontext.KindInvalid && decoder.StackDepth() == 1 && slices.Contains(raw, decoder.StackPointer()):
		value, err := decoder.ReadValue()
		*v = json.RawMessage(bytes.Clone(value))
		return err
	case (kind == jsontext.KindBeginObject || kind == jsontext.KindBeginArray) && decoder.StackDepth() >= maxDepth:
		return invalidMember(decoder.StackPointer(), "the body nests deeper than %d levels", maxDepth)
	}
	return errors.ErrUnsupported // decode as usual
}))

// parseObject decodes one JSON object, with nothing after it.
func parseObject(text []byte) (fields Object, err error) {
	if rest, found := bytes.CutPrefix(text, []byte("\ufeff")); found { // byte order mark of a file saved by an editor
		text = append([]byte("   "), rest...) // blanks keep the positions in errors
	}
	decoder := jsontext.NewDecoder(bytes.NewBuffer(text))
	err = jsonv2.UnmarshalDecode(decoder, &fields, strict)
	var known *errs.Error
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &known):
		return nil, known
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax):
		return nil, invalidMember(syntax.JSONPointer, "a field occurs twice")
	case errors.As(err, &syntax):
		return nil, Invalid("the body is not valid JSON at byte %d: %v", syntax.ByteOffset, syntax.Err)
	case err == io.EOF, err == nil && fields == nil, err != nil:
		return nil, Invalid("the body must be a JSON object")
	}
	end := decoder.InputOffset()
	if _, err := decoder.ReadToken(); err != io.EOF {
		return nil, Invalid("there is extra text after the JSON object, which ends before byte %d", end)
	}
	return fields, nil
}

// invalidMember is like Invalid for a value within the object. The field of the error is the
// outermost member.
func invalidMember(at jsontext.Pointer, format string, args ...any) error {
	err := Invalid(format, args...)
	for name := range at.Tokens() {
		err.Field = core.Shorten(name)
		break
	}
	return err
}
