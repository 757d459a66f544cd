package handlers_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"labshelf/blobs/blobstest"
	"labshelf/handlers"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
)

// BenchmarkRequests serves requests of each cost class, without a network.
func BenchmarkRequests(b *testing.B) {
	repo := repository.New(metadatatest.NewMemory(time.Now), blobstest.NewMemory(), repository.Config{PageSize: 100, DirectoryPageSize: 100})
	b.Cleanup(repo.Close)
	key, err := repo.Users.Bootstrap(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	handler := handlers.New(repo, handlers.Config{})
	send := func(method, path, contentType, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "http://localhost/v1"+path, strings.NewReader(body))
		if body == "" {
			r.Body = http.NoBody
		}
		r.Header.Set("Authorization", key)
		if contentType != "" {
			r.Header.Set("Content-Type", contentType)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code >= http.StatusBadRequest {
			b.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		return w
	}
	made := func(w *httptest.ResponseRecorder) string {
		at := w.Header().Get("Location")
		return at[strings.LastIndexByte(at, '/')+1:]
	}
	dataspace := made(send("POST", "/dataspaces", "application/json", `{"name": "lab"}`))
	set := made(send("POST", "/sets", "application/json", fmt.Sprintf(`{"name": "runs", "dataspaceId": %q}`, dataspace)))
	resource := ""
	for i := range 100 {
		upload := form(text("setId", set), file(fmt.Sprintf("run%d.csv", i), "content"))
		resource = made(send("POST", "/resources", upload.contentType, string(upload.body)))
	}
	again := form(text("setId", set), file("run.csv", strings.Repeat("content ", 512)))
	for _, bench := range []struct{ name, method, path, contentType, body string }{
		{"record", "GET", "/resources/" + resource, "", ""},
		{"edit", "PATCH", "/resources/" + resource, "application/json", `{"description": "as before"}`},
		{"page", "GET", "/sets/" + set + "/resources", "", ""},
		{"download", "GET", "/resources/" + resource + "/data", "", ""},
		{"upload", "POST", "/resources", again.contentType, string(again.body)},
		{"archive", "GET", "/sets/" + set + "/archive", "", ""},
		{"export", "GET", "/sets/" + set + "/metadata", "", ""},
		{"outline", "GET", "/sets/" + set + "/resources/outline", "", ""},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				send(bench.method, bench.path, bench.contentType, bench.body)
			}
		})
	}
}
