package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestHostileServerDoesNotControlTerminal runs commands against a server with escape sequences in
// its responses.
func TestHostileServerDoesNotControlTerminal(t *testing.T) {
	t.Parallel()
	const hostile = `\u001b[31m\u009b2Jred`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/dataspaces") {
			_, _ = w.Write([]byte(`{"data": [{"id": "x", "name": "` + hostile + `", "title": "` + hostile + `"}]}`))
			return
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusConflict)
		_, _ = w.Write([]byte(`{"status": 409, "code": "conflict", "detail": "` + hostile + `\nand more"}`))
	}))
	defer server.Close()
	environ := []string{"LABSHELF_SERVER=" + server.URL + "/v1", "LABSHELF_KEY=lsk_canary"}
	for _, args := range [][]string{{"ls"}, {"ls", "--json"}, {"dataspace", "new", "abc"}, {"key", "ls"}, {"rm", "a", "b"}} {
		var out, problems bytes.Buffer
		Main(args, environ, &out, &problems)
		if text := out.String() + problems.String(); strings.ContainsAny(text, "\x1b\u009b") || text == "" {
			t.Errorf("%q printed %q", args, text)
		}
	}
}
