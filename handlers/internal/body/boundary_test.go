package body

import (
	"net/http"
	"testing"
)

func formRequest(contentType string) *http.Request {
	return &http.Request{Header: http.Header{"Content-Type": {contentType}}}
}

// TestBoundaryOfUsualFormsIsCheap: each upload pays for reading its Content-Type, so that only the
// boundaries that RFC 2045 wants in quotes are worth a regular expression.
func TestBoundaryOfUsualFormsIsCheap(t *testing.T) {
	const most = 3 // 9 with the expression
	r := formRequest("multipart/form-data; boundary=d1c2f3a4b5")
	if n := testing.AllocsPerRun(100, func() {
		if params, err := boundary(r); err != nil || params["boundary"] != "d1c2f3a4b5" {
			t.Fatal(params, err)
		}
	}); n > most {
		t.Errorf("%v allocations, want %d at most", n, most)
	}
}

func BenchmarkBoundary(b *testing.B) {
	r := formRequest("multipart/form-data; boundary=d1c2f3a4b5")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := boundary(r); err != nil {
			b.Fatal(err)
		}
	}
}
