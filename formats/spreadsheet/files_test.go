package spreadsheet_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"labshelf/formats/descriptive"
	"labshelf/formats/spreadsheet"
)

// shelf returns the objects of a set.
func shelf(t fataler) []spreadsheet.Object {
	return []spreadsheet.Object{
		{ID: "1", ETag: "t1", Name: "Messung ä.csv", Metadata: metadata(t, `{"tags":["raw","to check"],"properties":{"n":1.50,"operator":"Größe","sample":{"id":"007","mass":{"value":20,"unit":"µg"}},"when":"2026-01-02"}}`)},
		{ID: "2", ETag: "t2", Name: "=b", Metadata: metadata(t, `{"properties":{"runs":[1,[2]],"sample":"none","when":"2026-01-13"}}`)},
		{ID: "3", ETag: "t3", Name: "c"},
	}
}

// TestFile checks the exported file of shelf.
func TestFile(t *testing.T) {
	t.Parallel()
	for separator, want := range map[rune]string{
		',': "\ufeffid,etag,name,tags,properties.n,properties.operator,properties.runs,properties.sample,properties.sample.id,properties.sample.mass,properties.when\r\n" +
			"1,t1,Messung ä.csv,\"raw, to check\",1.50,Größe,,,'007,20 µg,2026-01-02\r\n" +
			"2,t2,'=b,,,,\"[1,[2]]\",none,,,2026-01-13\r\n" +
			"3,t3,c,,,,,,,,\r\n",
		';': "\ufeffid;etag;name;tags;properties.n;properties.operator;properties.runs;properties.sample;properties.sample.id;properties.sample.mass;properties.when\r\n" +
			"1;t1;Messung ä.csv;raw, to check;1,50;Größe;;;'007;20 µg;2026-01-02\r\n" +
			"2;t2;'=b;;;;[1,[2]];none;;;2026-01-13\r\n" +
			"3;t3;c;;;;;;;;\r\n",
	} {
		if got := written(t, shelf(t), separator); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

// TestUneditedFiles tests that the changes that programs make to a whole file are not treated as
// edits.
func TestUneditedFiles(t *testing.T) {
	t.Parallel()
	file := written(t, shelf(t), ',')
	body := strings.TrimPrefix(file, "\ufeff")
	encoded := func(to interface{ String(string) (string, error) }, text string) string {
		text, err := to.String(text)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	lines := strings.SplitAfter(body, "\r\n")
	for name, text := range map[string]string{
		"as it was":          file,
		"no mark":            body,
		"sep=,":              "\ufeffsep=,\r\n" + body,
		"sep=; quoted":       "\"sep=;\"\n" + strings.TrimPrefix(written(t, shelf(t), ';'), "\ufeff"),
		"sep=| in UTF-16":    encoded(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder(), "SEP=|\r\nid|etag\r\n1|t1\r\n2|t2\r\n3|t3\r\n"),
		"sep= as a row":      "sep=;,,,\n" + body,
		"LF":                 strings.ReplaceAll(file, "\r\n", "\n"),
		"no last line end":   strings.TrimSuffix(file, "\r\n"),
		"Windows-1252":       encoded(charmap.Windows1252.NewEncoder(), body),
		"UTF-16":             encoded(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder(), body),
		"UTF-16 big endian":  encoded(unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder(), body),
		"semicolons":         written(t, shelf(t), ';'),
		"tabs":               strings.NewReplacer(",", "\t", `"raw, to check"`, "raw, to check", `"[1,[2]]"`, "[1,[2]]").Replace(file),
		"empty columns":      strings.ReplaceAll(file, "\r\n", ",,,\r\n"),
		"empty rows":         file + ",,,,\r\n\r\n,,,,,,,,,,,,,,,\r\n",
		"rows reordered":     lines[0] + lines[3] + "\n" + lines[1] + lines[2],
		"rows deleted":       lines[0] + lines[2],
		"only the header":    lines[0],
		"columns deleted":    "etag,id\nt1,1\nt2,2\n",
		"columns reordered":  "properties.when;name;properties.sample.id;id;etag\n02.01.2026;Messung ä.csv;7;1;\"\"\"t1\"\"\"\n13.01.2026;=b;;2;t2\n",
		"days before months": "id,etag,properties.when\n1,t1,02/01/2026\n2,t2,13/01/2026\n",
	} {
		after, problems := edit(t, text, shelf(t))
		if len(problems) > 0 {
			t.Errorf("%s: %+v", name, problems)
		}
		for _, m := range after {
			ok := false
			for _, o := range shelf(t) {
				ok = ok || m.Equal(o.Metadata)
			}
			if !ok {
				t.Errorf("%s was read as %s", name, m.Append(nil))
			}
		}
	}
}

// TestEdits tests that an edit changes its value, and no other value.
func TestEdits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ row, want string }{
		{"id,etag,tags\n1,t1,\"raw, done,, x y\"", `{"tags":["raw","done","x y"],"properties":{"n":1.50,"operator":"Größe","sample":{"id":"007","mass":{"value":20,"unit":"µg"}},"when":"2026-01-02"}}`},
		{"id,etag,tags,properties.n,properties.sample.id,properties.when\n1,t1,,,,", `{"properties":{"operator":"Größe","sample":{"mass":{"value":20,"unit":"µg"}}}}`},
		{"id,etag,properties.sample.id,properties.sample.mass,properties.sample\n1,t1,,,S1", `{"tags":["raw","to check"],"properties":{"n":1.50,"operator":"Größe","sample":"S1","when":"2026-01-02"}}`},
		{"id,etag,properties.sample,properties.sample.id\n2,t2,,S1", `{"properties":{"runs":[1,[2]],"sample":{"id":"S1"},"when":"2026-01-13"}}`},
		{"id,etag,properties.runs,properties.when\n2,t2,,31.12.2026", `{"properties":{"sample":"none","when":"2026-12-31"}}`},
		{"id,etag,properties.a.b.c\n3,t3,1", `{"properties":{"a":{"b":{"c":1}}}}`},
		{"id,etag,properties.t.unit,properties.t.value,properties.t.x\n3,t3,K,1,2", `{"properties":{"t":{"unit":"K","value":1,"x":2}}}`},
		{"id,etag,properties.O\u0308l\n3,t3,1", "{\"properties\":{\"Öl\":1}}"},
		{"id,etag,publisher,keywords,publicationYear\n3,t3,=P,\"[\"\"a\"\"]\",2026", `{"publisher":"=P","publicationYear":2026,"keywords":["a"]}`},
		{"id,etag,properties\n1,t1,\"{\"\"n\"\":null,\"\"sample\"\":{\"\"id\"\":\"\"S2\"\"},\"\"x\"\":true}\"", `{"tags":["raw","to check"],"properties":{"operator":"Größe","sample":{"id":"S2","mass":{"value":20,"unit":"µg"}},"when":"2026-01-02","x":true}}`},
	} {
		objects := shelf(t)
		if after := read(t, test.row, objects); string(after[0].Append(nil)) != test.want {
			t.Errorf("%s: %s, want %s", test.row, after[0].Append(nil), test.want)
		}
		for i, o := range shelf(t) {
			if !o.Metadata.Equal(objects[i].Metadata) {
				t.Errorf("%s changed the present metadata", test.row)
			}
		}
	}
}

// TestProblems tests that problems name the row, the column and the rule.
func TestProblems(t *testing.T) {
	t.Parallel()
	ansi := func(text string) string {
		text, err := charmap.Windows1252.NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, test := range []struct{ file, want string }{
		{"", "row 1: the header must have the columns id and etag"},
		{"\"id,etag\"\n\"1,t1\"", "row 1: the header must have the columns id and etag"},
		{"PK\x03\x04...", "this is a workbook; save it as CSV UTF-8"},
		{"id,name\n", "row 1, column etag: is required"},
		{"id,etag,id\n", "row 1, column id: must not occur twice"},
		{"id,etag,operator\n", "row 1, column operator: is unknown; the column of a property is named properties.NAME"},
		{"id,etag\r1,t1\r", "row 1, column etag\r1: is unknown"},
		{"id,etag,properties.a\n1,t1,\"x", "row 2: the row cannot be read, in line 2 of the file: extraneous or missing \" in quoted-field"},
		{"id,etag,properties.a\n1,t1,\"x" + strings.Repeat("y\n", 1<<20), "row 2: the row has more than 1048576 bytes, or a quotation mark is not closed"},
		{"id,etag,properties.a\n\n1,t1,\"x\ny\"\n\n1,t1,a\"b", "row 5: the row cannot be read, in line 6 of the file: bare \" in non-quoted-field"},
		{"id,etag,name\n1,t1,other.csv", "row 2, column name: a name cannot be changed here; rename the file with: labshelf mv"},
		{"id,etag,tags\n1,t1,a,b", "row 2: there is a cell beyond the last column"},
		{"id,etag,tags\n1,t1,\"a,b,a\"", "row 2, column tags: must not occur twice"},
		{"id,etag,properties.a b \n1,t1,1\n3,t3,\"{\"", "row 3, column properties.a b: the JSON is not valid at byte 1: unexpected EOF"},
		{"id,etag,properties._a\n\n1,t1,1", "row 3, column properties._a: must have a name that begins with a letter or a digit"},
		{"id,etag,properties.a\n3,t3,\"{\"\"x\"\":{\"\"value\"\":1,\"\"unit\"\":\"\" K\"\"}}\"", "row 2, column properties.a: must not begin or end with white space"},
		{"id,etag,properties.sample.id.x\n1,t1,1", "row 2, column properties.sample.id.x: a value and a group have this name"},
		{"id,etag,properties.sample\n1,t1,1", "row 2, column properties.sample: a value and a group have this name"},
		{"id,etag,keywords\n1,t1,a", "row 2, column keywords: must be JSON"},
		{"id,etag,properties\n1,t1,a", "row 2, column properties: must be JSON"},
		{"id,etag,properties.when\n1,t1,1/2/2026\n2,t2,13/01/2026", "row 2, column properties.when: the day is first in row 3, column properties.when, but the month is first here"},
		{ansi("id,etag,properties.a\n1,t1,Ä"), "row 2, column properties.a: the file is not UTF-8, so the character Ä in this cell is uncertain; save the file as CSV UTF-8"},
		{ansi("id,etag,properties.Öl\n1,t1,1"), "row 1, column properties.Öl: the file is not UTF-8, so the character Ö in this cell is uncertain"},
		{ansi("id,etag,properties.a\n1,t1,Ä\n") + "3,t3,Ä", "row 2, column properties.a: this is not UTF-8, but row 3, column properties.a is"},
	} {
		_, problems := edit(t, test.file, shelf(t))
		switch {
		case test.want == "" && len(problems) == 0:
		case len(problems) != 1 || !strings.HasPrefix(problems[0].Error(), test.want):
			t.Errorf("%.80q: %v, want %s", test.file, problems, test.want)
		}
	}
}

// TestWindows1252 tests that a file that is not UTF-8 is read if its characters are unambiguous.
func TestWindows1252(t *testing.T) {
	t.Parallel()
	objects := append(shelf(t), spreadsheet.Object{ID: "4", ETag: "t4", Metadata: metadata(t, `{"properties":{"r":{"value":5,"unit":"Ω"},"Öl":1,"note":"x?"}}`)})
	for _, test := range []struct{ file, want, problem string }{
		{"id,etag,properties.t\n3,t3,20 °C", `{"properties":{"t":{"value":20,"unit":"°C"}}}`, ""},
		{"id,etag,name,properties.t\n3,t3,c,Bär\n1,t1,Messung ä.csv,", `{"properties":{"t":"Bär"}}`, ""},
		{"id,etag,name,properties.t\n3,t3,c,Bär\n1,t1,Messung ä.txt,", "", "row 3, column name: a name"},
		{"id,etag,properties.Öl\n3,t3,2\n4,t4,1", `{"properties":{"Öl":2}}`, ""},
		{"id,etag,properties.r,properties.x\n4,t4,5 ?,20 °C", `{"properties":{"note":"x?","r":{"value":5,"unit":"Ω"},"x":{"value":20,"unit":"°C"},"Öl":1}}`, ""},
		{"id,etag,properties.r,properties.x\n4,t4,6 ?,20 °C", "", "row 2, column properties.r: the question mark may have replaced another character"},
		{"id,etag,properties.note,properties.x\n4,t4,y?,20 °C", `{"properties":{"note":"y?","r":{"value":5,"unit":"Ω"},"x":{"value":20,"unit":"°C"},"Öl":1}}`, ""},
	} {
		text, err := charmap.Windows1252.NewEncoder().String(test.file)
		if err != nil {
			t.Fatal(err)
		}
		after, problems := edit(t, text, objects)
		switch {
		case test.problem != "" && len(problems) > 0 && strings.HasPrefix(problems[0].Error(), test.problem):
		case test.problem != "" || len(problems) > 0 || string(after[0].Append(nil)) != test.want:
			t.Errorf("%q: %s, %v", test.file, after[0].Append(nil), problems)
		}
	}
}

// TestManyColumns tests that values without their own column are in a common column, and no value
// is lost.
func TestManyColumns(t *testing.T) {
	t.Parallel()
	var objects, none []spreadsheet.Object
	for i := range 100 {
		var g descriptive.Group
		for j := range 5 {
			inner := descriptive.Group{}.With(fmt.Sprint("b", j), descriptive.TextOf("'x")).With("c", descriptive.NumberOf("1.0"))
			g = g.With(fmt.Sprint("a", i%60, "-", j), descriptive.GroupOf(inner))
		}
		o := spreadsheet.Object{ID: fmt.Sprint(i), Metadata: descriptive.Metadata{Properties: g}}
		objects, none = append(objects, o), append(none, spreadsheet.Object{ID: o.ID})
	}
	file := written(t, objects, ',')
	header, _, _ := strings.Cut(file, "\r\n")
	if n := strings.Count(header, ",properties."); n != spreadsheet.MaxColumns || !strings.HasSuffix(header, ",properties") {
		t.Errorf("%d columns of properties: %s", n, header)
	}
	for _, onto := range [][]spreadsheet.Object{objects, none} {
		for i, m := range read(t, file, onto) {
			if !m.Equal(objects[i].Metadata) {
				t.Fatalf("%s was read as %s", objects[i].Metadata.Append(nil), m.Append(nil))
			}
		}
	}
}

// TestTooManyRows tests that empty rows count, too.
func TestTooManyRows(t *testing.T) {
	t.Parallel()
	for rows, want := range map[int]string{spreadsheet.MaxRows: "", spreadsheet.MaxRows + 1: "row 100001: a file must have at most 100000 rows"} {
		r, err := spreadsheet.NewReader(strings.NewReader("id,etag\n" + strings.Repeat("\n", rows-2) + "1,t1"))
		if err == nil {
			_, err = r.Read()
		}
		if err != nil && err.Error() != want || err == nil && want != "" {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
}

// FuzzRead reads any file.
func FuzzRead(f *testing.F) {
	f.Add([]byte(written(f, shelf(f), ',')))
	f.Add([]byte("id;etag;properties.a\r\n1;t1;1,5\r\n2;t2;\xc4\r\n"))
	f.Add([]byte("\xff\xfei\x00d\x00,\x00e\x00t\x00a\x00g\x00\n\x001\x00"))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := spreadsheet.NewReader(strings.NewReader(string(file)))
		rows := 1
		for err == nil {
			var line spreadsheet.Line
			if line, err = r.Read(); err != nil {
				break
			}
			if line.Row <= rows {
				t.Fatalf("row %d comes after %d", line.Row, rows)
			}
			rows = line.Row
			for _, o := range shelf(t) {
				after, problems := line.Edit(o, descriptive.Resource)
				if err := after.Validate(descriptive.Resource); err != nil && len(problems) == 0 && !after.Equal(o.Metadata) {
					t.Fatalf("row %d was read as %s: %v", line.Row, after.Append(nil), err)
				}
			}
		}
		if err == io.EOF {
			_ = r.Problems()
		} else if !errors.As(err, new(*spreadsheet.Problem)) {
			t.Fatal(err)
		}
	})
}
