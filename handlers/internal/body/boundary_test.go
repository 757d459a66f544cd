package body

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"labshelf/auth/errs"
)

// TestBoundaries: a boundary that clients leave without quotes is read, and a missing one is named.
func TestBoundaries(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"multipart/form-data; boundary====1656457491496===":                   "===1656457491496===",
		"multipart/form-data; charset=utf-8; boundary=a:b/c?d":                "a:b/c?d",
		"multipart/form-data;boundary=(x),y; charset=utf-8":                   "(x),y",
		"Multipart/Form-Data; Boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW": "----WebKitFormBoundary7MA4YWxkTrZu0gW",
		`multipart/form-data; boundary="==x=="`:                               "==x==",
	} {
		file := ""
		text := "--" + want + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\ntext\r\n--" + want + "--\r\n"
		r, err := http.NewRequest(http.MethodPost, "/", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", sent)
		err = Files(r, func(name, _ string, content io.Reader) error {
			read, err := io.ReadAll(content)
			file = name + ": " + string(read)
			return err
		})
		if err != nil || file != "a.txt: text" || r.Header.Get("Content-Type") != sent {
			t.Errorf("%s: %q, %v, then %s", sent, file, err, r.Header.Get("Content-Type"))
		}
	}
	for _, sent := range []string{"multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=a b"} {
		r, err := http.NewRequest(http.MethodPost, "/", strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", sent)
		var known *errs.Error
		if err := Files(r, nil); !errors.As(err, &known) || known.Code != errs.CodeInvalidBody || !strings.Contains(known.Message, "must name the boundary") {
			t.Errorf("%s: %v", sent, err)
		}
	}
}

// TestByteOrderMark: JSON that an editor has saved with a byte order mark is read.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	if fields, err := parseObject([]byte("\ufeff{\"name\":\"a\"}")); err != nil || fields["name"] != "a" {
		t.Errorf("%v, %v", fields, err)
	}
}
