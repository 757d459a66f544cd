package handlers_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"labshelf/blobs/blobstest"
	"labshelf/handlers"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
)

// sink is a ResponseWriter that discards everything, with deadlines like a connection.
type sink struct{ header http.Header }

func (s *sink) Header() http.Header                 { return s.header }
func (s *sink) WriteHeader(int)                     {}
func (s *sink) Write(p []byte) (int, error)         { return len(p), nil }
func (s *sink) SetReadDeadline(time.Time) error     { return nil }
func (s *sink) SetWriteDeadline(at time.Time) error { return nil }

// BenchmarkMiddleware measures the cost of a request apart from its use case: access log, host,
// deadlines, headers, routes, key.
func BenchmarkMiddleware(b *testing.B) {
	repo := repository.New(metadatatest.NewMemory(time.Now), blobstest.NewMemory(), repository.Config{PageSize: 100, DirectoryPageSize: 100})
	defer repo.Close()
	key, err := repo.Users.Bootstrap(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	handler := handlers.New(repo, handlers.Config{Stall: time.Minute, MinRate: 1000, FailedKeys: 60, Log: zerolog.New(io.Discard)})
	for what, path := range map[string]string{"document": "/v1/openapi.json", "user": "/v1/users/me"} {
		b.Run(what, func(b *testing.B) {
			request := httptest.NewRequest(http.MethodGet, path, nil)
			request.Host, request.RemoteAddr = "127.0.0.1:8080", "127.0.0.1:4711"
			request.Header.Set("Authorization", key)
			answer := httptest.NewRecorder()
			if handler.ServeHTTP(answer, request); answer.Code != http.StatusOK {
				b.Fatal(answer.Code, answer.Body)
			}
			b.ReportAllocs()
			for b.Loop() {
				handler.ServeHTTP(&sink{http.Header{}}, request)
			}
		})
	}
}
