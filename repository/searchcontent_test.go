package repository_test

import (
	"errors"
	"fmt"
	"testing"

	"labshelf/search/index"
)

// TestSearchByContent: a file with text is found by its words and its type, whatever its name, also
// after an upgrade. The record keeps the type that was sent.
func TestSearchByContent(t *testing.T) {
	t.Parallel()
	s := newSearched(t, 6)
	utf16 := func(text string) (raw string) {
		for _, r := range text {
			raw += string([]byte{byte(r), byte(r >> 8)})
		}
		return raw
	}
	name := func(i int) string { return fmt.Sprint("file 0 ", i) }
	for i, file := range []struct{ content, sent string }{
		{"crystal,phase\nquartz,alpha\n", "application/vnd.ms-excel"}, {"quartz in a form", "application/x-www-form-urlencoded"}, {utf16("quartz in two bytes"), "image/x-raw"},
		{"gr\xfcner quartz", "application/x-detector"}, {"%PDF-1.4 quartz", "text/plain"}, {"quartz\x00\x01\x02\x03", "text/plain"},
	} {
		s.OK(s.replace(s.Resources[i], file.content, file.sent))
		if got := s.Get(s.Resources[i].ID).MimeType; got != file.sent {
			t.Errorf("%s is recorded as %s", file.sent, got)
		}
	}
	for _, after := range []string{"an upload", "an upgrade"} {
		s.want(s.Admin, "quartz", name(0), name(1), name(2), name(3))
		s.want(s.Admin, "gruner", name(3))
		s.want(s.Admin, "type:text/csv", name(0))
		s.want(s.Admin, "type:vnd.ms-excel", name(0))
		s.want(s.Admin, "type:pdf", name(4))
		if after == "an upload" {
			s.Service.Close()
			s.OK(olderIndex(s.dir))
			s.reopen()
		}
	}
}

// olderIndex gives an index the position of an index that an older version wrote.
func olderIndex(dir string) error {
	ix, position, err := index.Open(dir)
	if err != nil {
		return err
	}
	position[0]--
	return errors.Join(ix.Apply(nil, position), ix.Close())
}
