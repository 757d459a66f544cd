package drive

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"strconv"
	"testing"

	"labshelf/verify/e2e"
)

// TestCutOff tests that a PUT whose connection breaks has no effect: an existing file keeps its
// content, and no new file appears. DRIVE_CUTS sets the number of cuts.
func TestCutOff(t *testing.T) {
	t.Parallel()
	cuts := 50
	if asked := os.Getenv("DRIVE_CUTS"); asked != "" {
		var err error
		cuts, err = strconv.Atoi(asked)
		check(t, err)
	}
	d := serve(t)
	const size = 3 << 20
	old := bytes.Repeat([]byte("old"), size/10)
	if a := d.request("PUT", d.url+"/file.bin", string(old)); a.Status != http.StatusCreated {
		t.Fatal(a.Problem())
	}
	for n := range cuts {
		path := "/file.bin"
		if n%2 == 1 {
			path = fmt.Sprintf("/new %d.bin", n)
		}
		sent := []int{0, 1, 100, 40_000, rand.IntN(size), size - 1}[n%6]
		d.cut(path, size, sent, n%4 < 2)
	}
	eventually(t, func() error {
		log, err := os.ReadFile(d.log)
		if served := bytes.Count(log, []byte(`"method":"PUT"`)); err == nil && served < cuts+1 {
			err = fmt.Errorf("only %d of %d requests have ended", served, cuts+1)
		}
		return err
	})
	check(t, d.rows(1))
	var page struct{ Data []e2e.Resource }
	check(t, d.Get(t.Context(), "/sets/"+d.set+"/resources?limit=1000", &page))
	if a := d.request("GET", d.url+"/file.bin", ""); !bytes.Equal(a.Body, old) || page.Data[0].Version != 1 {
		t.Errorf("the file has %d bytes in version %d, want %d in version 1", len(a.Body), page.Data[0].Version, len(old))
	}
	if a := d.request("PUT", d.url+"/file.bin", "new"); a.Status != http.StatusNoContent {
		t.Error(a.Problem())
	}
}

// cut begins to put a file of the given size, with Content-Length or chunked, and breaks the
// connection after sent bytes.
func (d *drive) cut(path string, size, sent int, chunked bool) {
	d.t.Helper()
	connection, err := net.Dial("tcp", d.Address())
	check(d.t, err)
	request, err := http.NewRequest(http.MethodPut, d.url+"/x", nil)
	check(d.t, err)
	request.SetBasicAuth("anybody", d.Key())
	request.URL.Path = "/dav/files-space/files" + path
	head := "PUT " + request.URL.EscapedPath() + " HTTP/1.1\r\nHost: " + d.Address() + "\r\nAuthorization: " + request.Header.Get("Authorization") + "\r\n"
	if chunked {
		_, err = fmt.Fprint(connection, head+"Transfer-Encoding: chunked\r\n\r\n")
	} else {
		_, err = fmt.Fprintf(connection, "%sContent-Length: %d\r\n\r\n", head, size)
	}
	check(d.t, err)
	content := bytes.Repeat([]byte("n"), sent)
	if chunked {
		_, err = httputil.NewChunkedWriter(connection).Write(content) // without the last chunk
	} else {
		_, err = connection.Write(content)
	}
	check(d.t, err)
	check(d.t, connection.Close())
}
