package handlers

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// encode returns v as the interface writes JSON: one member per line, in the order of the fields, non-ASCII as it is.
func encode(v any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		panic(err) // the types of this package can be encoded
	}
	return unescapeSeparators(out.Bytes())
}

// unescapeSeparators writes U+2028 and U+2029 as they are, which encoding/json escapes for the sake of old JavaScript.
func unescapeSeparators(encoded []byte) []byte {
	if !bytes.Contains(encoded, []byte(`\u202`)) {
		return encoded
	}
	out := make([]byte, 0, len(encoded))
	for len(encoded) > 0 {
		step := 1
		switch {
		case bytes.HasPrefix(encoded, []byte(`\u2028`)):
			out, encoded = append(out, "\u2028"...), encoded[6:]
			continue
		case bytes.HasPrefix(encoded, []byte(`\u2029`)):
			out, encoded = append(out, "\u2029"...), encoded[6:]
			continue
		case encoded[0] == '\\':
			step = 2 // an escape: its second character begins no other
		}
		out, encoded = append(out, encoded[:step]...), encoded[step:]
	}
	return out
}

func writeBody(w http.ResponseWriter, status int, contentType string, body []byte) {
	_ = sendBody(w, status, contentType, body) // a client that went away gets no error
}

// sendBody is writeBody for a body in memory that is to be used again: not after an error. HTTP/2 returns one as soon as the client
// has reset the stream, and may read what it was given after that.
func sendBody(w http.ResponseWriter, status int, contentType string, body []byte) error {
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}

const jsonType = "application/json; charset=utf-8"

func writeJSON(w http.ResponseWriter, status int, v any) {
	writeBody(w, status, jsonType, encode(v))
}

// writeRecord answers with an object and the ETag of its version.
func writeRecord(w http.ResponseWriter, r *request, status int, tag string, v any) {
	if !notModified(w, r, tag) {
		writeJSON(w, status, v)
	}
}

// notModified sets the ETag of a version, and answers a client that has it already.
func notModified(w http.ResponseWriter, r *request, tag string) bool {
	w.Header().Set("ETag", `"`+tag+`"`)
	reading := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !reading || !parseETags(r.Header.Values("If-None-Match")).Weak(tag) {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

// writeCreated answers with an object that was not there before.
func writeCreated(w http.ResponseWriter, r *request, url, tag string, v any) {
	w.Header().Set("Location", url)
	writeRecord(w, r, http.StatusCreated, tag, v)
}
