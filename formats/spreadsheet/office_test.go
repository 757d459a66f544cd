package spreadsheet_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"labshelf/formats/descriptive"
	"labshelf/formats/spreadsheet"
	_ "labshelf/internal/testhome"
)

// opened contains the ways in which LibreOffice opens and saves a file for users of a language. The
// options belong to its CSV filter: separator, quotation mark, encoding, first line, columns,
// language, quote all, detect special numbers.
var opened = []struct {
	locale    string
	separator rune
	load      string
	save      string // also "as shown" and "save formulas"
}{
	{"en-US", ',', "44,34,76,1,,0,false,true", "44,34,76,1,,0,false,true,true"},
	{"en-US", ',', "44,34,76,1,,0,false,false", "44,34,76,1,,0,false,true,true"},
	{"en-GB", ',', "44,34,76,1,,0,false,true", "44,34,76,1,,0,false,true,true"},
	{"de-DE", ';', "59,34,76,1,,0,false,true", "59,34,76,1,,0,false,true,true"},
	{"de-DE", ';', "59,34,76,1,,0,false,true", "9,34,65535,1,,0,false,true,true"},
	{"fr-FR", ';', "59,34,76,1,,0,false,true", "59,34,76,1,,0,true,true,true"},
	{"en-US", ',', "44,34,76,1,,0,false,true", "44,34,76,1,,0,false,false,true"},
}

// TestLibreOffice opens files in LibreOffice, saves them as workbooks, opens these, and saves them
// as CSV. Nothing may change. OFFICE names the program, such as soffice of the package
// libreoffice-calc-nogui.
func TestLibreOffice(t *testing.T) {
	program := os.Getenv("OFFICE")
	if program == "" {
		t.Skip("OFFICE names no program")
	}
	for _, way := range opened {
		t.Run(fmt.Sprintf("%s %s %s", way.locale, way.load, way.save), func(t *testing.T) {
			objects := manyObjects(t)
			folder := t.TempDir()
			profile := filepath.Join(folder, "profile")
			settings := `<?xml version="1.0" encoding="UTF-8"?><oor:items xmlns:oor="http://openoffice.org/2001/registry"><item oor:path="/org.openoffice.Setup/L10N">` +
				`<prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>` + way.locale + `</value></prop></item></oor:items>`
			if err := os.MkdirAll(filepath.Join(profile, "user"), 0o700); err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(profile, "user", "registrymodifications.xcu"), settings)
			put(t, filepath.Join(folder, "in.csv"), written(t, objects, way.separator))
			convert := func(file, to, load string) {
				ctx, stop := context.WithTimeout(t.Context(), time.Minute) // the program may hang
				defer stop()
				command := exec.CommandContext(ctx, program, "-env:UserInstallation=file://"+profile, "--headless", "--convert-to", to, "--outdir", filepath.Join(folder, "out"))
				command.WaitDelay = time.Second
				if load != "" {
					command.Args = append(command.Args, "--infilter=CSV:"+load)
				}
				command.Args = append(command.Args, filepath.Join(folder, file))
				if out, err := command.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", command, err, out)
				}
			}
			convert("in.csv", "xlsx:Calc MS Excel 2007 XML", way.load)
			convert("out/in.xlsx", "csv:Text - txt - csv (StarCalc):"+way.save, "")
			saved, err := os.ReadFile(filepath.Join(folder, "out", "in.csv"))
			if err != nil {
				t.Fatal(err)
			}
			unchanged(t, string(saved), objects)
		})
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// manyObjects returns objects with all of texts, with numbers that spreadsheets round, and with
// random metadata.
func manyObjects(t *testing.T) (objects []spreadsheet.Object) {
	t.Helper()
	add := func(m descriptive.Metadata) {
		if err := m.Validate(descriptive.Set); err != nil {
			return
		}
		id := fmt.Sprintf("01KXAMPLE%017d", len(objects))
		objects = append(objects, spreadsheet.Object{ID: id, ETag: id + ".mabcdefg1.a", Name: "run " + fmt.Sprint(len(objects)), Metadata: m})
	}
	for _, text := range texts {
		add(descriptive.Metadata{Properties: descriptive.Group{{Name: "text", Value: descriptive.TextOf(text)}}, Tags: []string{text}})
	}
	for _, text := range strings.Fields("0 -0 7 -7 1.0 0.10 1e5 1E+05 1.5 1.25 12.5 -2.5 1.2345e-7 123456789012 123456789012345 123456789012345678 0.1234567890123 0.000012345678 9999999999999999999999 1234567.891 100000 0.001234") {
		n := descriptive.Number(text)
		add(descriptive.Metadata{Properties: descriptive.Group{{Name: "number", Value: descriptive.NumberOf(n)}, {Name: "quantity", Value: descriptive.QuantityOf(n, "A")}, {Name: "share", Value: descriptive.QuantityOf(n, "%")}}})
	}
	for _, text := range strings.Fields("2026-01-02 2026-01-13 1850-05-01 2026-12-31 2026-01-02T10:20 2026-01-02T10:20Z 2026-01-02T10:20:30 2026-01-02T10:20:30.5+02:00") {
		add(descriptive.Metadata{Properties: descriptive.Group{{Name: "when", Value: descriptive.TextOf(text)}}})
	}
	for seed := range 300 {
		add(someMetadata.Example(seed))
	}
	return objects
}

// unchanged fails the test if a file changes the metadata of objects.
func unchanged(t *testing.T, file string, objects []spreadsheet.Object) {
	t.Helper()
	after, problems := edit(t, file, objects)
	for _, p := range problems {
		t.Error(p.Error())
	}
	if len(after) != len(objects) {
		t.Fatalf("%d rows of %d objects", len(after), len(objects))
	}
	for i, m := range after {
		if !m.Equal(objects[i].Metadata) {
			t.Errorf("%s was changed to %s", objects[i].Metadata.Append(nil), m.Append(nil))
		}
	}
}
