// Package extraction reads what files say about themselves, and what sidecars say about files, as
// properties of [descriptive.Metadata].
//
// A header is that of a table (CSV, TSV), an image (TIFF with OME-XML or the lines of ImageJ, JPEG
// with EXIF), or of FITS and NetCDF in its classic forms. Properties have the names that the
// standard of the format gives them: DateTime, OBJECT, PhysicalSizeX. A sidecar is a JSON object
// beside a file, whose members are properties.
//
// Files come from strangers. Whatever they hold, no reader reads more than a bounded part of one,
// or makes more of it than bounded memory; and what comes out are valid properties, at most
// [MaxProperties] and [descriptive.MaxBytes] of them. Even so these functions are for a process of
// its own: see labshelf/formats/extraction/child.
package extraction

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"labshelf/formats/descriptive"
)

// MaxProperties is how many outermost properties a file gives at most.
const MaxProperties = 200

// Result is what was found.
type Result struct {
	Properties descriptive.Group
	Left       int // values that were left out: they are no property, have a name that another one has, or are too many
}

// ErrFormat says that a file has not the form that it should have.
var ErrFormat = errors.New("not the format that it looks like")

// ErrUnread says that a file could not be read, whatever its form.
var ErrUnread = errors.New("it cannot be read")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// Beginning is how many bytes of the beginning of a file show its format.
const Beginning = 16

// reader reads the header of a format.
type reader func(in source, to *collector) error

// signatures are the beginnings of files whose header is read.
var signatures = []struct {
	beginning string
	read      reader
}{
	{"II*\x00", readTIFF}, {"MM\x00*", readTIFF}, {"II+\x00\x08\x00\x00\x00", readTIFF}, {"MM\x00+\x00\x08\x00\x00", readTIFF},
	{"\xff\xd8\xff", readJPEG},
	{"SIMPLE  =", readFITS},
	{"CDF\x01", readNetCDF}, {"CDF\x02", readNetCDF}, {"CDF\x05", readNetCDF},
}

// extensions are the ends of names of files that have no beginning of their own.
var extensions = map[string]reader{".csv": readTable, ".tsv": readTable, ".tab": readTable}

const gzipped = "\x1f\x8b"

// readerOf returns the reader of a format; nil for others.
func readerOf(name string, beginning []byte) reader {
	for _, s := range signatures {
		if strings.HasPrefix(string(beginning), s.beginning) {
			return s.read
		}
	}
	return extensions[strings.ToLower(path.Ext(name))]
}

// HasHeader tells whether a file may have a header that is read, from its name and its first
// [Beginning] bytes.
func HasHeader(name string, beginning []byte) bool {
	if inner, ok := withoutGzip(name, beginning); ok {
		return strings.EqualFold(path.Ext(inner), ".fits") || strings.EqualFold(path.Ext(inner), ".fit") || readerOf(inner, nil) != nil
	}
	return readerOf(name, beginning) != nil
}

// withoutGzip returns the name of what is compressed.
func withoutGzip(name string, beginning []byte) (inner string, ok bool) {
	bare := strings.TrimSuffix(name, path.Ext(name))
	return bare, strings.EqualFold(path.Ext(name), ".gz") && bytes.HasPrefix(beginning, []byte(gzipped))
}

// source is a file, or the beginning of one. Reading beyond its end is io.EOF, or
// io.ErrUnexpectedEOF.
type source struct {
	name string
	io.ReaderAt
	size int64
}

// Header reads the header of a file of that name and size. Of a format without one that is read
// here there are no properties. An error that is not ErrFormat is one of reading.
func Header(file io.ReaderAt, size int64, name string) (Result, error) {
	beginning, err := section(file, 0, min(size, Beginning))
	if err != nil {
		return Result{}, err
	}
	in := source{name, file, size}
	if inner, ok := withoutGzip(name, beginning); ok {
		if in, err = decompressed(in, inner); err != nil {
			return Result{}, err
		}
		beginning, _ = section(in, 0, min(in.size, Beginning)) // in memory
	}
	read := readerOf(in.name, beginning)
	if read == nil {
		return Result{}, nil
	}
	to := &collector{}
	if err := read(in, to); err != nil {
		isEnd := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if (isEnd || errors.Is(err, ErrFormat)) && isDICOM(in) {
			return Result{}, nil // its preamble only looks like another format
		}
		if isEnd {
			err = malformed("it ends too early")
		}
		return Result{}, err
	}
	return to.result(), nil
}

// isDICOM reports whether a file is DICOM, which leaves its first 128 bytes to other formats.
func isDICOM(in source) bool {
	mark, err := in.section(128, 4)
	return err == nil && string(mark) == "DICM"
}

// maxDecompressed is how much of the beginning of a compressed file is read.
const maxDecompressed = 4 << 20

// decompressed returns the beginning of what a file has compressed.
func decompressed(in source, inner string) (source, error) {
	unzip, err := gzip.NewReader(io.NewSectionReader(in, 0, in.size))
	if err != nil {
		return source{}, malformed("gzip: %v", err)
	}
	text, err := io.ReadAll(io.LimitReader(unzip, maxDecompressed))
	if err != nil && len(text) == 0 {
		return source{}, malformed("gzip: %v", err)
	}
	return source{inner, bytes.NewReader(text), int64(len(text))}, nil
}

// section reads n bytes from a position on; fewer are an error.
func section(from io.ReaderAt, at, n int64) ([]byte, error) {
	if at < 0 || n < 0 {
		return nil, malformed("a position is beyond the file")
	}
	b := make([]byte, n)
	read, err := from.ReadAt(b, at)
	if int64(read) == n {
		return b, nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return nil, err
}

// section reads a part of the file; beyond its end is an error, before anything is allocated.
func (in source) section(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > in.size || n > in.size-at {
		return nil, io.ErrUnexpectedEOF
	}
	return section(in, at, n)
}
