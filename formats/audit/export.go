package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	jsonv2 "github.com/go-json-experiment/json"
)

// exportFormat names the format, in the first line of an export. Another format needs another name.
const exportFormat = "labshelf audit export 1"

// ExportHeader is the first line of an export, with the signed head of the log at that time.
type ExportHeader struct {
	Origin Origin // for the writer; the signed Head contains it
	Key    string // the public key of the signature
	Head   string // with its signature
}

// ExportEntry is one entry of an export.
type ExportEntry struct {
	Leaf           []byte
	Texts, Address Sealed
}

type headerLine struct {
	Format string `json:"format"`
	Origin string `json:"origin"`
	Key    string `json:"key"`
	Head   string `json:"head"`
}

type entryLine struct {
	Leaf    []byte      `json:"leaf"`
	Texts   *sealedLine `json:"texts,omitempty"`
	Address *sealedLine `json:"address,omitempty"`
}

type sealedLine struct {
	Salt []byte `json:"salt"`
	Text string `json:"text"`
}

// Export writes an export: one JSON object a line.
type Export struct {
	out     *bufio.Writer
	encoder *json.Encoder
}

// NewExport begins an export with its first line. The caller then adds all entries in order, and
// calls Flush.
func NewExport(w io.Writer, h ExportHeader) (*Export, error) {
	out := bufio.NewWriterSize(w, 1<<16)
	e := &Export{out, json.NewEncoder(out)}
	e.encoder.SetEscapeHTML(false)
	return e, e.encoder.Encode(headerLine{exportFormat, h.Origin.String(), h.Key, h.Head})
}

// Add writes the next entry.
func (x *Export) Add(e ExportEntry) error {
	return x.encoder.Encode(entryLine{e.Leaf, e.Texts.line(), e.Address.line()})
}

func (s Sealed) line() *sealedLine {
	if s == (Sealed{}) {
		return nil
	}
	return &sealedLine{s.Salt[:], s.Text}
}

// Flush ends the export.
func (x *Export) Flush() error { return x.out.Flush() }

// maxLine is the length of the longest valid line of an export. Lines of labshelf are much shorter.
const maxLine = 1 << 20

// ErrExport means that the input is not an export of a known format, or that a line is damaged.
var ErrExport = errors.New("not an audit export that this version can read")

// ExportReader reads an export line by line.
type ExportReader struct {
	lines *bufio.Scanner
	line  uint64 // number of the last line, from 1
}

// OpenExport reads the first line of an export. It does not verify origin and signature; Origin
// stays zero. An error wraps ErrExport or comes from r.
func OpenExport(r io.Reader) (*ExportReader, ExportHeader, error) {
	x := &ExportReader{lines: bufio.NewScanner(r)}
	x.lines.Buffer(make([]byte, 0, 1<<16), maxLine)
	var first headerLine
	switch err := x.next(&first); {
	case err == io.EOF:
		return nil, ExportHeader{}, fmt.Errorf("%w: the file is empty", ErrExport)
	case err != nil:
		return nil, ExportHeader{}, err
	case first.Format != exportFormat:
		return nil, ExportHeader{}, fmt.Errorf("%w: line 1: format must be %q, not %.40q", ErrExport, exportFormat, first.Format)
	}
	return x, ExportHeader{Key: first.Key, Head: first.Head}, nil
}

// Next returns the next entry, or io.EOF at the end. It ignores unknown fields. Errors are as for
// OpenExport, with the number of the line.
func (x *ExportReader) Next() (e ExportEntry, err error) {
	var line entryLine
	if err = x.next(&line); err != nil {
		return e, err
	}
	e.Leaf = line.Leaf
	if e.Texts, err = line.Texts.sealed(); err == nil {
		e.Address, err = line.Address.sealed()
	}
	if err == nil && len(e.Leaf) == 0 {
		err = errors.New("the leaf is missing")
	}
	return e, x.failed(err)
}

// next decodes the next line.
func (x *ExportReader) next(into any) error {
	x.line++
	switch ok, err := x.lines.Scan(), x.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return x.failed(fmt.Errorf("the line is longer than %d bytes", maxLine))
	case err != nil:
		return err
	case !ok:
		return io.EOF
	}
	return x.failed(jsonv2.Unmarshal(x.lines.Bytes(), into))
}

// failed returns an ErrExport for the current line, or nil for nil.
func (x *ExportReader) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: line %d: %w", ErrExport, x.line, err)
}

func (l *sealedLine) sealed() (s Sealed, err error) {
	switch {
	case l == nil:
		return s, nil
	case len(l.Salt) != len(s.Salt):
		return s, fmt.Errorf("a salt has %d bytes, not %d", len(l.Salt), len(s.Salt))
	}
	copy(s.Salt[:], l.Salt)
	s.Text = l.Text
	return s, nil
}
