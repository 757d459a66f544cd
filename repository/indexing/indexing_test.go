package indexing

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"labshelf/metadata"
	"labshelf/repository/internal/storage"
	"labshelf/search"
	"labshelf/search/query"
)

// TestBehind: an index that is being rebuilt is behind, even if only few entries of the log remain.
func TestBehind(t *testing.T) {
	t.Parallel()
	x := Start(storage.New(nil, nil, nil), nil, "")
	for _, c := range []struct {
		at   position
		want uint64
	}{
		{position{}, 5}, {position{next: 5, phase: resources}, 5}, {position{next: 5, phase: following}, 0}, {position{next: 3, phase: following}, 2},
	} {
		x.moveTo(c.at)
		if got := x.Status(5); got.Behind != c.want || got.Scanning != (c.at.phase != following) {
			t.Errorf("at %+v: behind %d, scanning %t; want %d", c.at, got.Behind, got.Scanning, c.want)
		}
	}
}

// TestPosition: a stored position is parsed. Any other string is the position of an empty index.
func TestPosition(t *testing.T) {
	t.Parallel()
	at := position{
		epoch: metadata.EpochID{1, 2}, next: 3, stamp: 4, phase: following, after: metadata.ID{5}, since: 6, text: 7, textAfter: metadata.ID{8}, erase: true,
		checked: 9, renewal: renewal{dataspace: metadata.ID{10}, resources: true, until: 11, since: 12, after: metadata.ID{13}},
	}
	stored := at.append(nil)
	if got := parsePosition(stored); got != at {
		t.Errorf("%+v, want %+v", got, at)
	}
	for _, wrong := range [][]byte{nil, stored[1:], append(bytes.Clone(stored), 0), append([]byte{positionVersion + 1}, stored[1:]...)} {
		if got := parsePosition(wrong); got != (position{}) {
			t.Errorf("%x: %+v", wrong, got)
		}
	}
}

// TestMatched: Matched returns the parts that contain the words. It returns the text of the file
// only if no other part contains them.
func TestMatched(t *testing.T) {
	t.Parallel()
	d := search.Document{Name: "run17_sample.csv", Description: "salt at low temperature", Tags: []string{"Salt", "raw"}, Creators: []string{"Curie, Marie", "Müller"}, Title: "For Mueller in Köln",
		Properties: []search.Property{{Path: "operator", Text: "Ada"}}}
	for text, want := range map[string][]string{
		"un17": {InName}, "salt": {InDescription, InTags}, "alt": {InText}, "name:sam": {InName}, "tag:raw curie": {InTags, InCreators}, "operator": {InProperties},
		"operator:ada": {InProperties}, `"low temperature"`: {InDescription}, `"low temp"`: {InText}, "type:csv": {}, "runs phys": {InPath}, "hysics": {InText}, "-salt ada": {InProperties},
		"mueller": {InTitle, InCreators}, "Müller": {InTitle, InCreators}, `"mueller in koeln"`: {InTitle}, "muell": {InTitle, InCreators},
	} {
		q, err := query.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := Matched(q, d, "physics", "runs-2026"); !slices.Equal(got, want) {
			t.Errorf("%s matches %q, want %q", text, got, want)
		}
	}
}

// TestTextOf: the index contains the cells of notebooks, the text of UTF-16 files, and the ASCII
// part of other encodings.
func TestTextOf(t *testing.T) {
	t.Parallel()
	book := `{"cells":[{"source":["import quartz\n","x=1"],"outputs":[{"data":"b64"}]},{"source":"# Salt"}],"metadata":{}}`
	for _, c := range []struct{ name, content, want string }{
		{"a.txt", "plain", "plain"}, {"a.ipynb", book, "import quartz\nx=1\n# Salt\n"}, {"b.ipynb", "no notebook", "no notebook"},
		{"u.txt", "\xff\xfea\x00\xe4\x00", "aä"}, {"l.txt", "gr\xfcn und blau", "grün und blau"}, {"cut.txt", "a\xc3", "a"}, {"a.txt", "%PDF-1.4 text", ""}, {"a.png", "plain", "plain"},
		{"late.dat", strings.Repeat("text ", 1000) + "\x00\x01", ""},
	} {
		got, _, err := textOf(metadata.Resource{Filename: c.name}, bytes.NewReader([]byte(c.content)))
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
	long := bytes.Repeat([]byte("x"), MaxText+1)
	if got, _, err := textOf(metadata.Resource{}, bytes.NewReader(long)); err != nil || len(got) != MaxText {
		t.Errorf("%d bytes of a long text, %v", len(got), err)
	}
}

// TestBinariesAreReadAtTheirBeginning: only the beginning of a file without text is read, whatever
// its size.
func TestBinariesAreReadAtTheirBeginning(t *testing.T) {
	t.Parallel()
	file := bytes.NewReader(bytes.Repeat([]byte{0, 1, 2, 3}, 1<<20))
	if text, _, err := textOf(metadata.Resource{Filename: "a.raw"}, file); text != "" || err != nil || file.Size()-int64(file.Len()) > 4096 {
		t.Errorf("%d bytes, %v, %d are read", len(text), err, file.Size()-int64(file.Len()))
	}
}

// TestOtherType: the detected media type is used if it differs from the recorded one or is more
// specific.
func TestOtherType(t *testing.T) {
	t.Parallel()
	const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	for _, c := range []struct{ name, recorded, content, want string }{
		{"a.csv", "application/vnd.ms-excel", "a,b\n1,2\n", "text/csv"}, {"a.csv", "text/csv; charset=utf-8", "a,b\n1,2\n", ""}, {"a.dat", "application/octet-stream", "a text", "text/plain"},
		{"a.txt", "application/x-www-form-urlencoded", "a text", "text/plain"}, {"a.json", "image/png", `{"a":1}`, "application/json"}, {"a.png", "application/x-www-form-urlencoded", png, "image/png"},
		{"a.txt", "text/plain", png, "image/png"}, {"a.xls", "application/vnd.ms-excel", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ""}, {"a.raw", "application/x-detector", "\x00\x01", ""},
	} {
		if _, got, err := textOf(metadata.Resource{Filename: c.name, MimeType: c.recorded}, strings.NewReader(c.content)); got != c.want || err != nil {
			t.Errorf("%s as %s: %q, %v, want %q", c.name, c.recorded, got, err, c.want)
		}
	}
}
