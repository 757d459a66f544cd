// Package extraction reads properties of files, as [descriptive.Metadata] has them, from the files'
// own headers and from sidecars.
//
// It reads the headers of tables (CSV, TSV), of images (TIFF with OME-XML or the lines of ImageJ,
// JPEG with EXIF), of FITS and of NetCDF in its classic forms. Properties have the names of the
// format's standard: DateTime, OBJECT, PhysicalSizeX. A sidecar is a JSON object next to a file,
// whose members are properties.
//
// Files are not trusted. Whatever a file contains, a reader reads a bounded part of it and uses
// bounded memory. The results are valid properties, at most [MaxProperties] and
// [descriptive.MaxBytes]. Even so these functions are meant to run in a separate process: see
// labshelf/formats/extraction/child.
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

// MaxProperties bounds the outermost properties of a file.
const MaxProperties = 200

// Result has the properties of a file.
type Result struct {
	Properties descriptive.Group
	Left       int // number of values that were left out: they are invalid, have the name of another one, or are too many
}

// ErrFormat means that a file is not in the form that its name or beginning suggests.
var ErrFormat = errors.New("not the format that it looks like")

// ErrUnread means that a file could not be read, whatever its format.
var ErrUnread = errors.New("cannot be read")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// Beginning is the number of bytes that show the format of a file.
const Beginning = 16

// reader reads the header of a format.
type reader func(in source, to *collector) error

// signatures are the beginnings of files with a supported header.
var signatures = []struct {
	beginning string
	read      reader
}{
	{"II*\x00", readTIFF}, {"MM\x00*", readTIFF}, {"II+\x00\x08\x00\x00\x00", readTIFF}, {"MM\x00+\x00\x08\x00\x00", readTIFF},
	{"\xff\xd8\xff", readJPEG},
	{"SIMPLE  =", readFITS},
	{"CDF\x01", readNetCDF}, {"CDF\x02", readNetCDF}, {"CDF\x05", readNetCDF},
}

// extensions are the supported extensions of formats without a signature.
var extensions = map[string]reader{".csv": readTable, ".tsv": readTable, ".tab": readTable}

const gzipped = "\x1f\x8b"

// readerOf returns the reader of a format, or nil.
func readerOf(name string, beginning []byte) reader {
	for _, s := range signatures {
		if strings.HasPrefix(string(beginning), s.beginning) {
			return s.read
		}
	}
	return extensions[strings.ToLower(path.Ext(name))]
}

// HasHeader reports whether a file may have a supported header, by its name and its first
// [Beginning] bytes.
func HasHeader(name string, beginning []byte) bool {
	if inner, ok := withoutGzip(name, beginning); ok {
		return strings.EqualFold(path.Ext(inner), ".fits") || strings.EqualFold(path.Ext(inner), ".fit") || readerOf(inner, nil) != nil
	}
	return readerOf(name, beginning) != nil
}

// withoutGzip returns the name of the compressed file.
func withoutGzip(name string, beginning []byte) (inner string, ok bool) {
	bare := strings.TrimSuffix(name, path.Ext(name))
	return bare, strings.EqualFold(path.Ext(name), ".gz") && bytes.HasPrefix(beginning, []byte(gzipped))
}

// source is a file, or the beginning of one. Reading beyond its end returns io.EOF or
// io.ErrUnexpectedEOF.
type source struct {
	name string
	io.ReaderAt
	size int64
}

// Header reads the header of a file with that name and size. It returns no properties for other
// formats. An error other than ErrFormat is an error of reading the file.
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
		beginning, _ = section(in, 0, min(in.size, Beginning)) // reads from memory
	}
	read := readerOf(in.name, beginning)
	if read == nil {
		return Result{}, nil
	}
	to := &collector{}
	if err := read(in, to); err != nil {
		isEnd := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if (isEnd || errors.Is(err, ErrFormat)) && isDICOM(in) {
			return Result{}, nil // its preamble may look like another format
		}
		if isEnd {
			err = malformed("the file ends too early")
		}
		return Result{}, err
	}
	return to.result(), nil
}

// isDICOM reports whether a file is DICOM. DICOM leaves the first 128 bytes to other formats.
func isDICOM(in source) bool {
	mark, err := in.section(128, 4)
	return err == nil && string(mark) == "DICM"
}

// maxDecompressed bounds the decompressed bytes.
const maxDecompressed = 4 << 20

// decompressed returns the beginning of the content of a compressed file.
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

// section reads n bytes that begin at a position. Fewer bytes are an error.
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

// section reads a part of the file. A part beyond the end is an error, which is detected before
// memory is allocated.
func (in source) section(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > in.size || n > in.size-at {
		return nil, io.ErrUnexpectedEOF
	}
	return section(in, at, n)
}
