package v1

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"labshelf/handlers/internal/exchange"
	"labshelf/metadata"
)

// TestRedirects tests that only downloads by clients with a key, without conditions or a
// disposition, are redirected. A range is allowed.
func TestRedirects(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		off            bool
		method, query  string
		header, values string
		keyless, want  bool
	}{
		"a client":            {want: true},
		"a part":              {header: "Range", values: "bytes=1-", want: true},
		"not configured":      {off: true},
		"a page":              {keyless: true, header: "Cookie", values: "labshelf_session=x"},
		"nobody":              {keyless: true},
		"HEAD":                {method: http.MethodHead},
		"to be shown":         {query: "?disposition=inline"},
		"under a condition":   {header: "If-Match", values: `"sha256-x"`},
		"a part, if the same": {header: "If-Range", values: `"sha256-x"`},
	} {
		asked := httptest.NewRequest(tc.method, "/v1/resources/x/data"+tc.query, nil)
		if !tc.keyless {
			asked.Header.Set("Authorization", "lsk_x")
		}
		if tc.header != "" {
			asked.Header.Set(tc.header, tc.values)
		}
		a := &api{config: Config{RedirectDownloads: !tc.off}}
		if got := (Files{a}).redirects(&exchange.Request{Request: asked, Query: asked.URL.Query()}); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
	answer := httptest.NewRecorder()
	if err := redirect(answer, metadata.Resource{}, "https://s3.example.org/x?y", nil); err != nil || answer.Code != http.StatusTemporaryRedirect ||
		answer.Header().Get("Location") != "https://s3.example.org/x?y" || answer.Header().Get("Cache-Control") != "no-store" || answer.Header().Get("Repr-Digest") == "" {
		t.Errorf("%d %v, %v", answer.Code, answer.Header(), err)
	}
}
