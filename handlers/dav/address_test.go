package dav

import (
	"net/url"
	"strings"
	"testing"
)

// TestAddresses tests that the address of any path leads back to the path, and contains no
// character with another meaning in XML or to a client.
func TestAddresses(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for c := 1; c < 256; c++ {
		all.WriteByte(byte(c))
	}
	d := &Drive{prefix: "/at home/dav"}
	for _, tc := range []struct {
		path   string
		folder bool
		want   string
	}{
		{"", true, "/at home/dav/"},
		{"a/b c", true, "/at home/dav/a/b c/"},
		{"a/b c.txt", false, "/at home/dav/a/b c.txt"},
		{"a/" + all.String(), false, "/at home/dav/a/" + all.String()},
		{"ünï/🧪", false, "/at home/dav/ünï/🧪"},
	} {
		address := d.href(tc.path, tc.folder)
		if got, err := url.PathUnescape(address); err != nil || got != tc.want || strings.ContainsAny(address, "<>&\"'+; ") {
			t.Errorf("%q has the address %s, %v", tc.path, address, err)
		}
		if parsed, err := url.Parse("http://data.example.org" + address); err != nil || parsed.Path != tc.want {
			t.Errorf("%s is parsed as %v, %v", address, parsed, err)
		}
	}
}
