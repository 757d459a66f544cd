package files

import (
	"testing"

	"labshelf/metadata"
)

// TestDownloadName: a download has the present name. The extension of the uploaded file is appended
// only if the name is a title without an extension.
func TestDownloadName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, filename, format, want string }{
		{"Run of Monday", "a.csv", "CSV", "Run of Monday.csv"}, {"raw/run-1", "run-1.csv", "CSV", "run-1.csv"}, {"b.tif", "a.csv", "CSV", "b.tif"},
		{"Makefile", "Makefile.tmp.1", "", "Makefile"}, {"Makefile", "Makefile.tmp.123456", "123456", "Makefile"}, {"README", "README.md.part", "PART", "README"},
		{"notes", "notes.txt~", "TXT~", "notes.txt~"}, {"..", "a.csv", "CSV", "a.csv"},
	} {
		if got := DownloadName(metadata.Resource{Name: c.name, Filename: c.filename, Format: c.format}); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	moved := metadata.Resource{Name: "Makefile.tmp.1", Filename: "Makefile.tmp.1", Format: "1"}
	if retype(&moved, "Makefile"); DownloadName(moved) != "Makefile" {
		t.Errorf("a renamed file is downloaded as %s", DownloadName(moved))
	}
}
