package multipart_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	standard "mime/multipart"
	"net/textproto"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"labshelf/handlers/multipart"
)

// found is a part with the content that was read.
type found struct {
	Header textproto.MIMEHeader
	Body   string
}

// readAll reads the parts of a body with buffers of size room. It skips every part whose number is
// a multiple of skip.
func readAll(body io.Reader, boundary string, room, skip int) (parts []found, err error) {
	r := multipart.NewReader(body, boundary)
	for {
		part, err := r.Next()
		if err != nil {
			return parts, err
		}
		of := found{Header: part.Header}
		if skip == 0 || len(parts)%skip > 0 {
			var content bytes.Buffer
			if _, err := io.CopyBuffer(&content, struct{ io.Reader }{part}, make([]byte, room)); err != nil {
				return parts, err
			}
			of.Body = content.String()
		}
		parts = append(parts, of)
	}
}

// readStandard is like readAll, but uses mime/multipart. It appends a line break and an error to
// the body, because mime/multipart accepts a body that ends within the header of a part.
func readStandard(body []byte, boundary string, skip int) (parts []found, err error) {
	src := io.MultiReader(bytes.NewReader(body), strings.NewReader("\r\n"), iotest.ErrReader(io.ErrUnexpectedEOF))
	r := standard.NewReader(src, boundary)
	for {
		part, err := r.NextRawPart()
		if err != nil {
			return parts, err
		}
		of := found{Header: part.Header}
		if skip == 0 || len(parts)%skip > 0 {
			content, err := io.ReadAll(part)
			if err != nil {
				return parts, err
			}
			of.Body = string(content)
		}
		parts = append(parts, of)
	}
}

// bodies are interesting bodies with the boundary "b".
var bodies = []string{
	"", "\r\n", "--b--", "--b--\r\n", "--b--\r", "--b--\n", "--b", "--b\r\n", "--b\r\n\r\n", "--b\r\n\r\n--b--",
	"--b\r\nA: x\r\n\r\nbody\r\n--b--\r\n",
	"--b\r\nA: x\r\n\r\nbody\r\n--b--",
	"--b\nA: x\n\nbody\n--b--\n",
	"--b\nA: x\n\nbody\n--b--",
	"--b \t\r\n\r\nspaces\r\n--b \t\r\n\r\nbehind\r\n--b-- \t\r\nthe end",
	"before\r\n--b\r\n\r\nbody\r\n--b--\r\nbehind",
	"--bb\r\n--b\r\n\r\n--bb\r\n\r\n--bb\r\n--b-\r\n--b-x\r\n--b--\r\n",
	"--b\r\n\r\n--b\r\n\r\n\r\n--b\r\n\r\n\r\n\r\n--b--\r\n",
	"--b\r\n\r\none\r\n--b--\r\n--b\r\n\r\nbehind the end\r\n--b--\r\n",
	"--b\r\n\r\nwrong break\n--b--\r\n",
	"--b\r\n\r\nwrong break\r\n--b--\n\r\n--b\r\n",
	"--b\r\n\r\nnothing after it\r\n--b-",
	"--b\r\n\r\n\r\r\n\r\r\n\r\n-\r\n--\r\r\n--b--",
	"--b\r\nA: x\r\n y\r\n \r\nB:z\r\n\r\nfolded\r\n--b--",
	"--b\r\n A: x\r\n\r\nleading space\r\n--b--",
	"--b\r\nno colon\r\n\r\nbody\r\n--b--",
	"--b\r\nA: x\r\r\n\r\nbody\r\n--b--",
	"--b\r\nA: x\r\n--b\r\n\r\nbody\r\n--b--",
	strings.Repeat("x", 4094) + "\r\n--b\r\n\r\nbody\r\n--b--",
	strings.Repeat("x", 4095) + "\r\n--b\r\n\r\nbody\r\n--b--",
	"--b\r\nA: " + strings.Repeat("x", 9000) + "\r\n\r\nlong header\r\n--b--",
	"--b\r\n\r\n" + strings.Repeat("\r\n--", 5000) + "b\r\n--b--",
	"--b\r\n\r\n" + strings.Repeat("\r", 9000) + "\r\n--b\r\n\r\n" + strings.Repeat("x", 9000) + "\r\n--b--",
}

// FuzzReader tests that bodies are read like mime/multipart reads them, with reads of any size.
func FuzzReader(f *testing.F) {
	for _, body := range bodies {
		for _, room := range []uint16{1, 7, 4096, 5000, 0xffff} {
			f.Add([]byte(body), room, uint8(0))
		}
		f.Add([]byte(body), uint16(100), uint8(1))
		f.Add([]byte(body), uint16(100), uint8(2))
	}
	f.Fuzz(func(t *testing.T, body []byte, room uint16, skip uint8) {
		for _, boundary := range []string{"b", strings.Repeat("b", 70)} {
			body := bytes.ReplaceAll(body, []byte("--b"), []byte("--"+boundary))
			want, refused := readStandard(body, boundary, int(skip))
			sources := map[string]io.Reader{
				"whole": bytes.NewReader(body), "with the end": iotest.DataErrReader(bytes.NewReader(body)), "halves": iotest.HalfReader(bytes.NewReader(body)),
			}
			if len(body) < 1000 {
				sources["bytes"] = iotest.OneByteReader(bytes.NewReader(body))
			}
			for name, source := range sources {
				got, err := readAll(source, boundary, int(room)+1, int(skip))
				if errors.Is(err, multipart.ErrTooLong) && len(body) > multipart.MaxHeader {
					continue // mime/multipart does not have this limit
				}
				if (err == io.EOF) != (refused == io.EOF) {
					t.Fatalf("%s, %q: %v, and mime/multipart says %v", name, body, err, refused)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s, %q: mime/multipart (-), got (+):\n%s", name, body, diff)
				}
			}
		}
	})
}

// TestErrors tests the errors of invalid bodies.
func TestErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("the line is dead")
	long := func(n int) string { return strings.Repeat("x", n) }
	tests := map[string]struct {
		body string
		then error // error at the end of the source
		want error
	}{
		"no end":                        {"--b\r\n\r\nbody", io.EOF, io.ErrUnexpectedEOF},
		"no end of a header":            {"--b\r\nA: x", io.EOF, io.ErrUnexpectedEOF},
		"nothing":                       {"", io.EOF, io.ErrUnexpectedEOF},
		"a dead line":                   {"--b\r\n\r\nbody", broken, broken},
		"a dead line, at the beginning": {"", broken, broken},
		"a long header":                 {"--b\r\nA: " + long(multipart.MaxHeader-6) + "\r\n\r\nbody\r\n--b--", io.EOF, multipart.ErrTooLong},
		"a header without end":          {"--b\r\nA: " + long(1<<20), io.EOF, multipart.ErrTooLong},
		"a line before":                 {long(5000), io.EOF, multipart.ErrTooLong},
		"lines before":                  {strings.Repeat(long(1000)+"\r\n", 66), io.EOF, multipart.ErrTooLong},
		"a boundary and more":           {"--b\r\n\r\n--b\r\n\r\n\r\n--b more\r\n", io.EOF, multipart.ErrMalformed},
		"the longest header":            {"--b\r\nA: " + long(multipart.MaxHeader-7) + "\r\n\r\nbody\r\n--b--", io.EOF, io.EOF},
		"a body of any size":            {"--b\r\n\r\n" + long(1<<20) + "\r\n--b--", io.EOF, io.EOF},
		"many parts of 100 KiB":         {strings.Repeat("--b\r\n\r\n"+long(100<<10)+"\r\n", 10) + "--b--", io.EOF, io.EOF},
	}
	for name, test := range tests {
		for _, room := range []int{1, 512, 1 << 16} {
			_, err := readAll(io.MultiReader(strings.NewReader(test.body), iotest.ErrReader(test.then)), "b", room, 0)
			if !errors.Is(err, test.want) {
				t.Errorf("%s, read by %d: got %v, want %v", name, room, err, test.want)
			}
		}
	}
	if _, err := readAll(strings.NewReader("--b\r\n\r\n"+long(100<<10)+"\r\n--b--"), "b", 1, 1); !errors.Is(err, multipart.ErrTooLong) {
		t.Errorf("100 KiB were skipped: %v", err)
	}
}

// TestStale reads from a part after the next one has been requested.
func TestStale(t *testing.T) {
	t.Parallel()
	r := multipart.NewReader(strings.NewReader("--b\r\n\r\nfirst\r\n--b\r\n\r\nsecond\r\n--b--"), "b")
	first, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if n, err := first.Read(make([]byte, 10)); n > 0 || err != io.EOF {
		t.Errorf("read %d bytes, %v", n, err)
	}
}

// BenchmarkReader reads a body with one large part, like an upload, and compares it with
// mime/multipart. If the source is a socket, larger reads also save system calls.
func BenchmarkReader(b *testing.B) {
	boundary := strings.Repeat("0123456789ab", 5) // as long as the boundaries of Go's clients
	for name, size := range map[string]int{"4KiB": 4 << 10, "64MiB": 64 << 20} {
		random := make([]byte, size)
		_, _ = rand.NewChaCha8([32]byte{}).Read(random) // never fails
		body := []byte("--" + boundary + "\r\nContent-Disposition: form-data; name=\"setId\"\r\n\r\n01ARZ3NDEKTSV4RRFFQ69G5FAV\r\n--" + boundary +
			"\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.dat\"\r\nContent-Type: application/octet-stream\r\n\r\n" + string(random) + "\r\n--" + boundary + "--\r\n")
		room := make([]byte, 256<<10)
		drain := func(b *testing.B, part io.Reader, err error) bool {
			if err == io.EOF {
				return false
			}
			if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{part}, room); err != nil {
				b.Fatal(err)
			}
			return true
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				r := multipart.NewReader(bytes.NewReader(body), boundary)
				for more := true; more; {
					part, err := r.Next()
					more = drain(b, part, err)
				}
			}
		})
		b.Run(name+"/standard", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				r := standard.NewReader(bytes.NewReader(body), boundary)
				for more := true; more; {
					part, err := r.NextRawPart()
					more = drain(b, part, err)
				}
			}
		})
	}
}
