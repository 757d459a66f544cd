package download

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// FuzzRange tests that any Range header yields the whole file, valid parts of it, or a refusal.
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
		r.Header = normalizedRange(r.Header, int64(len(content)))
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
