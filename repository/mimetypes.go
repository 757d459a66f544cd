package repository

import (
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// vague are the types that content detection falls back to, or that many formats share: there the extension knows more.
var vague = []string{"application/octet-stream", "text/plain", "application/zip", "text/xml", "application/x-ole-storage", "application/gzip"}

// byExtension are the types of formats that a lab keeps and whose content does not tell. The system's own table is not
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

// detectMime finds a media type from the first bytes of a file and its names.
func detectMime(head []byte, names ...string) string {
	found := mimetype.Detect(head)
	guess := found.String()
	for _, v := range vague {
		if !found.Is(v) {
			continue
		}
		for _, name := range names {
			if known, ok := byExtension[strings.ToLower(formatOf(name))]; ok {
				return withCharset(known, guess)
			}
		}
	}
	return guess
}

// withCharset keeps the character set that the content has shown, on types that are text.
func withCharset(media, detected string) string {
	_, charset, ok := strings.Cut(detected, "; charset=")
	if !ok || !strings.HasPrefix(media, "text/") {
		return media
	}
	return media + "; charset=" + charset
}
