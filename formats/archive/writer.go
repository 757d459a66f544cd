package archive

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"time"
)

// The entries that the writer adds at the end.
const (
	SumsName     = "SHA256SUMS"    // in the form of sha256sum -c
	ManifestName = "manifest.json" // the last entry
)

// ErrContent means that the bytes of a file do not match its digest.
var ErrContent = errors.New("the content does not have the recorded SHA-256")

// Set describes the set of an archive, for its manifest.
type Set struct {
	ID, Name string
	Metadata string // descriptive metadata as JSON, or ""
}

// File is a file to add.
type File struct {
	ID, Name, MimeType string
	Metadata           string // as in Set
	Bytes              int64
	SHA256             [sha256.Size]byte
	Modified           time.Time
}

// listed is the entry of a file in the manifest.
type listed struct {
	Path     string `json:"path"`
	Name     string `json:"name"`
	Bytes    int64  `json:"bytes"`
	SHA256   string `json:"sha256"`
	MimeType string `json:"mimetype"`
	Modified string `json:"modified"`

	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// Writer writes an archive to a stream. It uses some 500 bytes of memory for each file, in addition
// to the length of its path: for the directory of the zip, the assigned paths and the compressed
// manifest. An archive is complete only when Close has returned nil.
type Writer struct {
	out            *bufio.Writer
	zip            *zip.Writer
	paths          *Paths
	sums, manifest *deferredEntry
	hash           hash.Hash
	buffer         []byte
	files          int
	compressed     bool // the current file
}

const buffered = 32 << 10 // bytes

// NewWriter begins an archive.
func NewWriter(to io.Writer, set Set) *Writer {
	out := bufio.NewWriterSize(to, buffered)
	w := &Writer{
		out: out, zip: zip.NewWriter(out), paths: NewPaths(SumsName, ManifestName), sums: &deferredEntry{}, manifest: &deferredEntry{},
		hash: sha256.New(), buffer: make([]byte, buffered),
	}
	// Entries come one after the other and share a deflater for each level, made at its first use.
	deflaters := map[int]*flate.Writer{}
	w.zip.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) {
		level := flate.BestSpeed
		if w.compressed {
			level = flate.NoCompression
		}
		if deflaters[level] == nil {
			deflaters[level] = newDeflater(to, level)
		}
		deflaters[level].Reset(to)
		return deflaters[level], nil
	})
	w.manifest.add("{\n  \"setId\": %s,\n  \"setName\": %s,\n", quoted(set.ID), quoted(set.Name))
	if set.Metadata != "" {
		w.manifest.add("  \"metadata\": %s,\n", set.Metadata)
	}
	w.manifest.add("  \"files\": {")
	return w
}

// Add adds a file. After any error, from ErrContent, body or the stream, the caller must neither
// add files nor close the archive.
func (w *Writer) Add(file File, body io.Reader) error {
	path := w.paths.Give(file.ID, file.Name)
	w.compressed = isCompressed(file.MimeType, path)
	entry, err := w.zip.CreateHeader(header(path, file.Modified))
	if err != nil {
		return err
	}
	w.hash.Reset()
	n, err := io.CopyBuffer(struct{ io.Writer }{entry}, io.TeeReader(io.LimitReader(body, file.Bytes+1), w.hash), w.buffer)
	if err != nil {
		return err
	}
	if n != file.Bytes || [sha256.Size]byte(w.hash.Sum(nil)) != file.SHA256 {
		return ErrContent
	}
	if w.files++; w.files > 1 {
		w.manifest.add(",")
	}
	sum := hex.EncodeToString(file.SHA256[:])
	w.sums.add("%s  %s\n", sum, path)
	w.manifest.add("\n    %s: %s", quoted(file.ID), quoted(listed{
		path, file.Name, file.Bytes, sum, file.MimeType, file.Modified.UTC().Format("2006-01-02T15:04:05.000Z"),
		json.RawMessage(file.Metadata),
	}))
	return nil
}

// Close adds the digests and the manifest and ends the archive. It does not close the stream.
func (w *Writer) Close() error {
	w.manifest.add("\n  },\n  \"count\": %d\n}\n", w.files)
	made := time.Now()
	w.compressed = false
	return errors.Join(w.sums.writeTo(w.zip, SumsName, made), w.manifest.writeTo(w.zip, ManifestName, made), w.zip.Close(), w.out.Flush())
}

// header returns the header of an entry. Its time is written in UTC, and also in local form, as the
// format requires. All entries use the method Deflate: its data mark their own end, so that
// programs can read an archive from a stream, in which checksum and sizes follow the data. Data of
// the method Store do not mark their end.
func header(path string, modified time.Time) *zip.FileHeader {
	h := &zip.FileHeader{Name: path, Method: zip.Deflate, Modified: modified.UTC()}
	h.SetMode(0o644)
	return h
}

func quoted(v any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err) // these types can be encoded
	}
	return bytes.TrimSpace(text.Bytes())
}
