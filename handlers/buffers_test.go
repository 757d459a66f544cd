package handlers_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"labshelf/handlers"
	"labshelf/repository"
)

// reset is the ResponseWriter of a request whose client has reset its stream. Like in HTTP/2, Write
// then returns before it has passed the bytes to the connection.
type reset struct {
	*httptest.ResponseRecorder
	kept []byte
}

func (r *reset) Write(p []byte) (int, error) {
	if len(p) > len(r.kept) {
		r.kept = p
	}
	return 0, http.ErrAbortHandler
}

// TestBufferOfConnectionIsNotReused tests that a buffer that a connection may still read is not
// used for another answer.
func TestBufferOfConnectionIsNotReused(t *testing.T) {
	s := ownGateway(t, repository.Config{HoldUpTo: 1 << 10}, handlers.Config{}).newSpace(nil)
	first, second := s.newSet(), s.newSet()
	mine := s.upload(first, "mine.txt", string(bytes.Repeat([]byte("mine"), 4<<10))).text("id")
	other := s.upload(second, "other.txt", string(bytes.Repeat([]byte("other"), 4<<10))).text("id")
	handler := handlers.New(s.repo, handlers.Config{})
	ask := func(w http.ResponseWriter, path string) {
		r := httptest.NewRequest("GET", "/v1"+path, nil)
		r.Host = "localhost"
		r.Header.Set("Authorization", "Bearer "+s.key)
		handler.ServeHTTP(w, r)
	}
	for mine, other := range map[string]string{
		"/sets/" + first + "/resources": "/sets/" + second + "/resources",
		"/resources/" + mine + "/data":  "/resources/" + other + "/data",
	} {
		gone := &reset{ResponseRecorder: httptest.NewRecorder()}
		ask(gone, mine)
		was := bytes.Clone(gone.kept)
		same(t, "something was written", len(was) > 0, true)
		for range 3 {
			answer := httptest.NewRecorder()
			ask(answer, other)
			same(t, "status", answer.Code, http.StatusOK)
		}
		if !bytes.Equal(gone.kept, was) {
			t.Errorf("%s: the connection of another client received %.200q", mine, gone.kept)
		}
	}
}
