package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"labshelf/errs"
)

// FuzzParseObject holds that a body which is taken is the object that every other decoder sees in it, and that any other is
// refused with a code for clients.
func FuzzParseObject(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"name":"a","n":1e400,"deep":[[[{"x":null}]]]}`, `{"a":1,"a":2}`, `{"a":1} {}`, `[1]`, `null`, ``, `{"a":"\ud800"}`,
		`{"a":"\ud83d\ude00","\u0061":1}`, "{\"a\":\"\xff\"}", `{"a":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := parseObject(body)
		if err != nil {
			var refused *errs.Error
			if !errors.As(err, &refused) || refused.Code == "" || refused.Kind != errs.Invalid {
				t.Fatalf("%q: %v", body, err)
			}
			return
		}
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		var want map[string]any
		if err := decoder.Decode(&want); err != nil || !reflect.DeepEqual(map[string]any(got), want) {
			t.Fatalf("%q: got %v, want %v, %v", body, got, want, err)
		}
	})
}

// FuzzRange holds that whatever a client asks for in Range, it gets the whole file, parts that are parts of it, or a refusal.
func FuzzRange(f *testing.F) {
	for _, seed := range []string{
		"bytes=0-4", "bytes=-3", "bytes=5-", "bytes=0-0,2-3", "BYTES = 1-2", "lines=1-2", "bytes=-0", "bytes=9-1", "bytes=", "bytes=0-99999999999999999999",
		"bytes=,,1-1,", "bytes=0-1,0-1,0-1,0-1,0-1,0-1,0-1,0-1,0-1,0-1,0-1,0-1",
	} {
		f.Add(seed)
	}
	const content = "0123456789abcdef"
	f.Fuzz(func(t *testing.T, sent string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Range", sent)
		r.Header = withRange(r.Header, int64(len(content)))
		answer := httptest.NewRecorder()
		http.ServeContent(answer, r, "", time.Time{}, strings.NewReader(content))
		body, contentRange := answer.Body.String(), answer.Header().Get("Content-Range")
		switch answer.Code {
		case http.StatusOK:
			if body != content {
				t.Fatalf("%q: 200 with %q", sent, body)
			}
		case http.StatusPartialContent:
			var first, last, size int
			_, err := fmt.Sscanf(contentRange, "bytes %d-%d/%d", &first, &last, &size)
			if contentRange != "" && (err != nil || size != len(content) || content[first:last+1] != body) {
				t.Fatalf("%q: %q with %q", sent, contentRange, body)
			}
		case http.StatusRequestedRangeNotSatisfiable:
		default:
			t.Fatalf("%q: %d", sent, answer.Code)
		}
	})
}
