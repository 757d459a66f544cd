package body

import (
	"net/http"
	"testing"
)

func formRequest(contentType string) *http.Request {
	return &http.Request{Header: http.Header{"Content-Type": {contentType}}}
}

// TestBoundaryOfUsualFormsIsCheap tests that usual boundaries are parsed without a regular
// expression, since each upload pays for it.
func TestBoundaryOfUsualFormsIsCheap(t *testing.T) {
	const most = 3 // 9 with the regular expression
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
