// Package content detects the media type of files from their bytes, and extracts their text.
package content

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
)

// vague lists the types that content detection falls back to, or that many formats share. For
// these, the extension decides.
var vague = []string{"application/octet-stream", "text/plain", "application/zip", "text/xml", "application/x-ole-storage", "application/gzip"}

// byExtension lists the media types of common lab formats that content detection cannot recognise.
// The system's own table is not used, because results must not depend on the machine.
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

// OfExtension returns the media type of an extension without a dot, in any case.
func OfExtension(extension string) (media string, ok bool) {
	media, ok = byExtension[strings.ToLower(extension)]
	return media, ok
}

// IsVague reports whether many formats share a media type. The media type must have no parameters.
func IsVague(media string) bool { return slices.Contains(vague, media) }

// dicom is the signature at byte 128 of a DICOM file. Other formats may use the bytes before it;
// TIFF files often do.
const dicom = "DICM"

// isDICOM reports whether a file is DICOM. A file that is also a TIFF image counts as DICOM unless
// one of its names has a TIFF extension.
func isDICOM(head []byte, names []string) bool {
	const at = 128
	isTIFF := func(name string) bool { return slices.Contains([]string{"tif", "tiff"}, extension(name)) }
	return len(head) >= at+len(dicom) && string(head[at:at+len(dicom)]) == dicom && !slices.ContainsFunc(names, isTIFF)
}

// Detect returns the media type of a file, from its first bytes and its names.
func Detect(head []byte, names ...string) string {
	if isDICOM(head, names) {
		return "application/dicom"
	}
	found := mimetype.Detect(head)
	media := found.String()
	if slices.ContainsFunc(vague, found.Is) {
		for _, name := range names {
			if known, ok := byExtension[extension(name)]; ok {
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

// charsetOf returns the character set of a text as a parameter, or "" if its first bytes do not
// show it. The last character may be cut off.
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

// extension returns the extension of a name in lower case, without its dot, or "" without one.
func extension(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 {
		return ""
	}
	return strings.ToLower(name[dot+1:])
}
