package v1

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/hosts"
	"labshelf/metadata"
	"labshelf/repository/core"
)

// BenchmarkSendPage sends a page of resources that is already encoded: over loopback, to another
// machine with an ETag, and compressed. The metric bytes/page is the size of the sent page.
func BenchmarkSendPage(b *testing.B) {
	const base = "https://data.example.org/v1"
	layout := encode.ResourceLayout(base, "https://data.example.org/resources/{id}", encode.ItemIndent)
	for _, rows := range []int{10, 100, 1000} {
		a := &api{hosts: hosts.New(hosts.Config{})}
		built := a.pages.Begin(base + "/resources" + exchange.Results)
		for i := range rows {
			r := metadata.Resource{Record: metadata.Record{ID: metadata.NewID(metadata.Stamp(i))}, Name: "measurements/2026/run-17.csv", Bytes: 4096}
			r.Digest = sha256.Sum256([]byte{byte(i), byte(i >> 8)})
			r.Created, r.Modified, r.Description = metadata.Stamp(i*1_001), metadata.Stamp(i*1_001), "Run 17, sample at 293 K, 40 kV"
			encode.Add(built, layout, &r)
		}
		page := bytes.Clone(built.Finish(core.PageEnds{Current: "current", Next: "next"}))
		for _, line := range []struct{ name, from, accept string }{
			{"loopback", "127.0.0.1:1", "gzip"}, {"identity", "203.0.113.7:1", ""}, {"gzip", "203.0.113.7:1", "gzip"},
		} {
			b.Run(fmt.Sprintf("rows=%d/%s", rows, line.name), func(b *testing.B) {
				r := httptest.NewRequest(http.MethodGet, "/v1/resources", nil)
				r.RemoteAddr = line.from
				r.Header.Set("Accept-Encoding", line.accept)
				sent := 0
				b.ReportAllocs()
				for b.Loop() {
					w := &countingWriter{header: http.Header{}}
					if err := a.sendPage(w, &exchange.Request{Request: r}, page); err != nil {
						b.Fatal(err)
					}
					sent = w.bytes
				}
				b.ReportMetric(float64(sent), "bytes/page")
			})
		}
	}
}

type countingWriter struct {
	header http.Header
	bytes  int
}

func (w *countingWriter) Header() http.Header { return w.header }
func (w *countingWriter) WriteHeader(int)     {}
func (w *countingWriter) Write(p []byte) (int, error) {
	w.bytes += len(p)
	return len(p), nil
}
