package s3_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"

	"labshelf/blobs"
	"labshelf/internal/servers"
)

// TestSmallBlobIsReadAgain changes a byte of the first response to a GET. The reader must still get
// the stored bytes. Two wrong responses are reported as damage.
func TestSmallBlobIsReadAgain(t *testing.T) {
	t.Parallel()
	server := servers.StartS3(t)
	proxy := servers.StartFaults(t, server)
	o := options(server)
	o.Endpoint = proxy.Endpoint()
	store := openAt(t, "s3://"+server.Bucket(t), o)
	body := content(100 << 10)
	staged, err := store.Stage(t.Context(), bytes.NewReader(body), 0)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := staged.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for wrong, want := range []error{nil, nil, blobs.ErrDamaged} {
		asked := 0
		proxy.Rule(func(r *http.Request) servers.Fault {
			if asked++; r.Method != http.MethodGet || asked > wrong {
				return servers.Fault{}
			}
			return servers.Fault{Flip: servers.At(50 << 10)}
		})
		file, err := store.Open(t.Context(), stored.Blob)
		if !errors.Is(err, want) {
			t.Fatalf("%d wrong responses: got %v, want %v", wrong, err, want)
		}
		if err != nil {
			continue
		}
		got, err := io.ReadAll(file)
		if err = errors.Join(err, file.Close()); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%d wrong responses: read %d bytes, %v", wrong, len(got), err)
		}
	}
}
