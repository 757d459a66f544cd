package handlers_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"labshelf/blobs/directory"
	"labshelf/handlers"
	"labshelf/repository"
)

// FuzzUpload tests that a multipart body either creates a resource with the digest in its record,
// or is refused as a client error and leaves nothing.
func FuzzUpload(f *testing.F) {
	const part = "--b\r\nContent-Disposition: form-data; name="
	g, err := openGateway(f.TempDir(), directory.OS{}, repository.Config{})
	if err != nil {
		f.Fatal(err)
	}
	g.serve(handlers.Config{})
	f.Cleanup(func() {
		if err := g.close(); err != nil {
			f.Error(err)
		}
	})
	send := func(method, path, contentType string, body []byte) *httptest.ResponseRecorder {
		request := httptest.NewRequest(method, g.base+path, bytes.NewReader(body))
		request.Header.Set("Authorization", g.admin)
		request.Header.Set("Content-Type", contentType)
		answer := httptest.NewRecorder()
		g.server.Config.Handler.ServeHTTP(answer, request)
		return answer
	}
	var made struct{ ID, DataURL, SHA256 string }
	for _, parent := range [][2]string{{"/dataspaces", `{"name":"lab"}`}, {"/sets", `{"name":"runs","dataspaceId":"ID"}`}} {
		answer := send(http.MethodPost, parent[0], "application/json", []byte(strings.ReplaceAll(parent[1], "ID", made.ID)))
		if err := json.Unmarshal(answer.Body.Bytes(), &made); err != nil || answer.Code != http.StatusCreated {
			f.Fatal(answer, err)
		}
	}
	set := made.ID
	for _, seed := range []string{
		part + "\"setId\"\r\n\r\nSET\r\n" + part + "\"file\"; filename=\"a.txt\"\r\n\r\nbytes\r\n--b--\r\n",
		part + "\"file\"; filename=\"../x\"\r\nContent-Type: text/plain\r\n\r\nbytes\r\n" + part + "\"setId\"\r\n\r\nSET\r\n--b--",
		part + "\"name\"\r\nContent-Type: text/plain; charset=latin1\r\n\r\n\xe9\r\n" + part + "\"file\"\r\n\r\n\r\n" + part + "\"setId\"\r\n\r\nSET\r\n--b--",
		part + "\"sha256\"\r\n\r\n00\r\n--b--", "--b--", "", "--b\r\n\r\n--b",
		part + "\"setId\"\r\n\r\n1\r\n" + part + "\"setId\"\r\n\r\n2\r\n--b--",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		answer := send(http.MethodPost, "/resources", "multipart/form-data; boundary=b", bytes.ReplaceAll(body, []byte("SET"), []byte(set)))
		err := json.Unmarshal(answer.Body.Bytes(), &made)
		switch {
		case err != nil || answer.Code != http.StatusCreated && answer.Code/100 != 4:
			t.Fatalf("%q: %d %s (%v)", body, answer.Code, answer.Body, err)
		case answer.Code == http.StatusCreated:
			_, path, _ := strings.Cut(made.DataURL, "/v1")
			sum := sha256.Sum256(send(http.MethodGet, path, "", nil).Body.Bytes())
			if hex.EncodeToString(sum[:]) != made.SHA256 {
				t.Fatalf("%q: %+v has the digest %x", body, made, sum)
			}
		}
		left, err := os.ReadDir(filepath.Join(g.dir, "tmp"))
		if err != nil || len(left) > 0 {
			t.Fatalf("after %q, the files are %v, %v", body, left, err)
		}
	})
}
