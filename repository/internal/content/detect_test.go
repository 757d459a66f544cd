package content

import (
	"strings"
	"testing"
)

func TestDetect(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ content, name, want string }{
		{"1,2\n", "a.csv", "text/csv; charset=utf-8"},
		{"second,volt\n0,1.5\n1,1.7\n", "run.csv", "text/csv; charset=utf-8"},
		{"gr\xf6\xdfe,1\n", "latin.csv", "text/csv; charset=iso-8859-1"},
		{"# Titel\n", "README.md", "text/markdown; charset=utf-8"},
		{"plain words\n", "notes", "text/plain; charset=utf-8"},
		{"", "empty.csv", "text/csv; charset=utf-8"},
		{`{"a": 1}`, "x.json", "application/json"},
		{"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "picture.csv", "image/png"},
		{"\x00\x01\x02\x03", "scan.h5", "application/x-hdf5"},
		{"\x00\x01\x02\x03", "scan.unknown", "application/octet-stream"},
		{"%PDF-1.7\n", "paper", "application/pdf"},
		{"II*\x00\xe8\x05\x08" + strings.Repeat("\x00", 121) + "DICM\x02\x00", "MR_small.dcm", "application/dicom"},
		{"MM\x00*" + strings.Repeat("\x00", 124) + "DICM\x02\x00", "IM0001", "application/dicom"},
		{"MM\x00*" + strings.Repeat("\x00", 124) + "DICM\x02\x00", "slide.tiff", "image/tiff"},
		{strings.Repeat("\x00", 128) + "DICM\x02\x00", "scan", "application/dicom"},
		{"II*\x00\x08\x00\x00\x00", "scan", "image/tiff"},
	} {
		if got := Detect([]byte(tc.content), tc.name); got != tc.want {
			t.Errorf("%q named %s is %q, want %q", tc.content, tc.name, got, tc.want)
		}
	}
}
