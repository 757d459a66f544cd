package repository

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

// uploadBody is a body that has come in to its end: staged as a file, or, where that is nil, in memory.
type uploadBody struct {
	staged blobs.Staged
	buffer *[]byte // borrowed
	bytes  []byte
	digest blobs.Digest
}

func (b *uploadBody) size() int64 {
	if b.staged != nil {
		return b.staged.Content().Size
	}
	return int64(len(b.bytes))
}

func (b *uploadBody) head() []byte {
	if b.staged != nil {
		return b.staged.Content().Head
	}
	return b.bytes[:min(len(b.bytes), blobs.HeadSize)]
}

// location is where the bytes will be.
func (b *uploadBody) location() metadata.BodyLocation {
	if b.staged != nil {
		return metadata.InBlob
	}
	return metadata.Inline
}

// receive reads a body to its end. One that is short enough stays in memory, any other one is brought to stable storage as a file; so is
// one whose blob is known to be damaged, which that file replaces. length is how long it is; negative: that is not known.
func (s *Service) receive(ctx context.Context, body io.Reader, length int64) (*uploadBody, error) {
	if buffer := s.inline.Borrow(); buffer != nil {
		n, err := blobs.ReadFull(ctx, body, *buffer)
		begin := (*buffer)[:n]
		body = io.MultiReader(bytes.NewReader(begin), body)
		if err == io.EOF && n < len(*buffer) {
			digest := blobs.Digest(sha256.Sum256(begin))
			if wrong, err := s.stores.Damage(ctx, digest); err != nil || wrong == "" {
				return &uploadBody{buffer: buffer, bytes: begin, digest: digest}, nil
			}
			body = bytes.NewReader(begin)
		}
		defer s.inline.Return(buffer)
		if err != nil && err != io.EOF {
			return nil, s.stores.BlobError(fmt.Errorf("read the body: %w", err))
		}
	}
	if length >= 0 {
		body = blobs.WithLength(body, length)
	}
	staged, err := s.files.Stage(ctx, body, s.config.MaxUpload)
	if err != nil {
		return nil, s.stores.BlobError(err)
	}
	return &uploadBody{staged: staged, digest: staged.Content().Digest}, nil
}

// discard releases what the body occupies, unless it was committed.
func (s *Service) discard(b *uploadBody) error {
	if b.staged != nil {
		return b.staged.Discard()
	}
	s.inline.Return(b.buffer)
	return nil
}

// commitFile commits the received file before the transaction. What is to be done is checked before that, too, so that
// what is refused leaves no file behind.
// The blob is pinned until the commit is done, so that no purge takes it away in between. A file that is there already is
// replaced: nobody has read it just now, and the received one is known to be complete.
func (u *FormUpload) commitFile(ctx context.Context, check intent) error {
	s, digest := u.service, u.received.digest
	err := s.view(ctx, u.caller, check.only)
	if err != nil {
		return err
	}
	release := s.files.Pin(digest)
	defer release()
	u.file, err = u.received.staged.Commit(ctx)
	if s.stores.Objects != nil && errors.Is(err, blobs.ErrNotFound) {
		err = errors.Join(rows.ErrStale, err)
	}
	if err != nil {
		return s.stores.BlobError(err)
	}
	s.stores.Verifications.Committed(digest)
	err = s.update(ctx, u.caller, check.andWrite)
	if err != nil && !errors.Is(err, metadata.ErrOutcomeUnknown) && u.with == nil { // a resumable upload has nothing else for its next try
		release()
		u.withdraw(context.WithoutCancel(ctx))
	}
	return err
}

// withdraw takes a file away again whose record could not be written: on a full disk it would be in the way until a purge. What
// does not work here is left to that purge.
func (u *FormUpload) withdraw(ctx context.Context) {
	_ = u.received.staged.Withdraw(func() error { return u.service.stores.Orphaned(ctx, u.file.Blob) })
}

// vague are the types that content detection falls back to, or that many formats share: there the extension knows more.
var vague = []string{"application/octet-stream", "text/plain", "application/zip", "text/xml", "application/x-ole-storage", "application/gzip"}

// byExtension are the types of formats that labs use and whose content does not tell. The system's own table is not
// used: answers must not depend on the machine.
var byExtension = map[string]string{
	"bib": "text/x-bibtex", "c": "text/x-c", "cpp": "text/x-c++", "css": "text/css", "csv": "text/csv", "dat": "application/octet-stream",
	"docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "dta": "application/x-stata-dta",
	"fasta": "text/x-fasta", "fastq": "text/x-fastq", "fits": "application/fits", "geojson": "application/geo+json", "go": "text/x-go",
	"h": "text/x-c", "h5": "application/x-hdf5", "hdf5": "application/x-hdf5", "html": "text/html", "htm": "text/html", "ini": "text/plain",
	"ipynb": "application/x-ipynb+json", "java": "text/x-java", "jl": "text/x-julia", "js": "text/javascript", "json": "application/json",
	"jsonl": "application/jsonl", "jsonld": "application/ld+json", "kml": "application/vnd.google-earth.kml+xml", "log": "text/plain",
	"m": "text/x-matlab", "mat": "application/x-matlab-data", "md": "text/markdown", "n3": "text/n3", "nc": "application/x-netcdf",
	"npy": "application/x-npy", "npz": "application/x-npz", "nq": "application/n-quads", "nt": "application/n-triples",
	"ods": "application/vnd.oasis.opendocument.spreadsheet", "odt": "application/vnd.oasis.opendocument.text", "owl": "application/rdf+xml",
	"parquet": "application/vnd.apache.parquet", "pkl": "application/octet-stream",
	"pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation", "py": "text/x-python", "r": "text/x-r",
	"rdf": "application/rdf+xml", "rst": "text/x-rst", "sav": "application/x-spss-sav", "sh": "application/x-sh", "sql": "application/sql",
	"svg": "image/svg+xml", "tar": "application/x-tar", "tei": "application/tei+xml", "tex": "application/x-tex", "toml": "application/toml",
	"ts": "text/x-typescript", "tsv": "text/tab-separated-values", "ttl": "text/turtle", "txt": "text/plain",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml", "yaml": "application/yaml",
	"yml": "application/yaml", "zip": "application/zip",
}

// dicom are the characters at byte 128 of a DICOM file. Other formats may use the bytes before
// them: a preamble in TIFF is usual.
const dicom = "DICM"

// isDICOM reports whether a file is DICOM. A file that is a TIFF image as well is DICOM unless one
// of its names is that of a TIFF image.
func isDICOM(head []byte, names []string) bool {
	const at = 128
	isTIFF := func(name string) bool {
		return slices.Contains([]string{"tif", "tiff"}, strings.ToLower(formatOf(name)))
	}
	return len(head) >= at+len(dicom) && string(head[at:at+len(dicom)]) == dicom && !slices.ContainsFunc(names, isTIFF)
}

// detectMime finds a media type from the first bytes of a file and its names.
func detectMime(head []byte, names ...string) string {
	if isDICOM(head, names) {
		return "application/dicom"
	}
	found := mimetype.Detect(head)
	media := found.String()
	if slices.ContainsFunc(vague, found.Is) {
		for _, name := range names {
			if known, ok := byExtension[strings.ToLower(formatOf(name))]; ok {
				media = known
				break
			}
		}
	}
	if !strings.HasPrefix(media, "text/") || strings.Contains(media, charsetIs) {
		return media
	}
	return media + charsetOf(head, found)
}

const charsetIs = "; charset="

// charsetOf tells the character set of a text, as a parameter, where its first bytes show it. The last character may be cut.
func charsetOf(head []byte, found *mimetype.MIME) string {
	if _, charset, ok := strings.Cut(found.String(), charsetIs); ok {
		return charsetIs + charset
	}
	for cut := range min(len(head), utf8.UTFMax-1) + 1 {
		if utf8.Valid(head[:len(head)-cut]) {
			return charsetIs + "utf-8"
		}
	}
	return ""
}

// mimeOf returns the media type of a file: the one sent, in the field that it came in, if it says something; else what content and
// name tell.
func mimeOf(sent, field string, head []byte, names ...string) (string, error) {
	const unknown = "application/octet-stream"
	if sent == "" {
		return detectMime(head, names...), nil
	}
	media, _, err := mime.ParseMediaType(sent)
	switch {
	case err != nil || len(sent) > maxMimeBytes || !strings.Contains(media, "/"):
		return "", invalid(field, "the Content-Type of the file must be a media type such as text/csv, of up to %d bytes", maxMimeBytes)
	case media == unknown:
		return detectMime(head, names...), nil
	}
	return sent, text{what: "the Content-Type of the file", max: maxMimeBytes}.check(field, sent)
}
