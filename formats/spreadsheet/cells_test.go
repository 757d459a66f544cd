package spreadsheet_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"labshelf/formats/descriptive"
	"labshelf/formats/spreadsheet"
)

// TestTyped tests values that people enter into an empty cell, in files with commas and with
// semicolons as separators.
func TestTyped(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ cell, commas, semicolons string }{
		{"Ada", `"Ada"`, ""},
		{" Ada ", `"Ada"`, ""},
		{"'=1+1", `"=1+1"`, ""},
		{"=1+1", `"=1+1"`, ""},
		{"'007", `"007"`, ""},
		{"007", `"007"`, ""},
		{"'", `""`, ""},
		{"''", `"'"`, ""},
		{`"a\r\nb"`, `"a\r\nb"`, ""},
		{`"a" b`, `"\"a\" b"`, ""},
		{"20", `20`, ""},
		{"-20", `-20`, ""},
		{"−20", `-20`, ""},
		{"1.50", `1.50`, ""},
		{"0,5", `0.5`, ""},
		{"1.234", `1.234`, "the number 1.234 can be read in two ways; write 1,234, or 1234 without a thousands separator"},
		{"1,234", "the number 1,234 can be read in two ways; write 1.234, or 1234 without a thousands separator", `1.234`},
		{"1.234.567", "the number 1.234.567 can be read in two ways", "the number 1.234.567 can be read in two ways"},
		{"0,234", `0.234`, ""},
		{"1.23E+14", `1.23E+14`, ""},
		{"1e999", "must be a number that fits into 64 bits of floating point", ""},
		{".5", `".5"`, ""},
		{"1.2.3", `"1.2.3"`, ""},
		{"TRUE", `true`, ""},
		{"false", `false`, ""},
		{"WAHR", `true`, ""},
		{"FAUX", `false`, ""},
		{"Vero", `"Vero"`, ""},
		{"20 °C", `{"value":20,"unit":"°C"}`, ""},
		{"-196°C", `{"value":-196,"unit":"°C"}`, ""},
		{"−196 °C", `{"value":-196,"unit":"°C"}`, ""},
		{"0.5 mm", `{"value":0.5,"unit":"mm"}`, ""},
		{"0,5mm", `{"value":0.5,"unit":"mm"}`, ""},
		{"1,234 mm", "the number 1,234 can be read in two ways", `{"value":1.234,"unit":"mm"}`},
		{"5 1/s", `{"value":5,"unit":"1/s"}`, ""},
		{"5e3 J/(kg K)", `{"value":5e3,"unit":"J/(kg K)"}`, ""},
		{"50 %", `{"value":50,"unit":"%"}`, ""}, {"50\u00a0%", `{"value":50,"unit":"%"}`, ""}, {"50\u202f°C", `{"value":50,"unit":"°C"}`, ""},
		{"1.234,5", `1234.5`, ""}, {"1,234.5 mm", `{"value":1234.5,"unit":"mm"}`, ""}, {"1\u202f234,5", `1234.5`, ""}, {"1'234", `1234`, ""},
		{"12h30", `"12h30"`, ""}, {"5/2", `"5/2"`, ""}, {"5-7 mm", `"5-7 mm"`, ""}, {"5±2 mm", `"5±2 mm"`, ""}, {"½", `"½"`, ""}, {"0x10", `"0x10"`, ""}, {"1_000", `"1_000"`, ""}, {"٣", `"٣"`, ""}, {"NaN", `"NaN"`, ""},
		{"100 200", "the number 100 200 can be read in two ways; write 100200 if it is one number", ""},
		{`{"value":"20,5","unit":"°C"}`, `{"value":20.5,"unit":"°C"}`, ""}, {`{"value":20,"unit":",5 °C"}`, "must be a unit; after the number 20", ""},
		{"100 counts", `{"value":100,"unit":"counts"}`, ""}, {"20 º C", `{"value":20,"unit":"º C"}`, ""},
		{"4K", `"4K"`, ""},
		{"4 K", `{"value":4,"unit":"K"}`, ""},
		{"3 samples", `"3 samples"`, ""},
		{`{"value":3,"unit":"samples"}`, `{"value":3,"unit":"samples"}`, ""},
		{`["a", 1, true]`, `["a",1,true]`, ""},
		{`{"b":1}`, `{"b":1}`, ""},
		{"[sic]", "the JSON ", ""},
		{`{"b":null}`, "the JSON must not be null", ""},
		{"2026-01-02", `"2026-01-02"`, ""},
		{"2026-01-02T10:20Z", `"2026-01-02T10:20Z"`, ""},
		{"2026-01-02 10:20", `"2026-01-02T10:20"`, ""},
		{"2026/1/2", `"2026-01-02"`, ""},
		{"02.01.2026", `"2026-01-02"`, ""},
		{"2. 1. 2026", `"2026-01-02"`, ""},
		{"02.01.2026 9:05", `"2026-01-02T09:05"`, ""},
		{"13/1/2026", `"2026-01-13"`, ""},
		{"1/13/2026 1:20:30 PM", `"2026-01-13T13:20:30"`, ""},
		{"2/2/2026", `"2026-02-02"`, ""},
		{"1/2/2026", "the date 1/2/2026 can be read in two ways; write 2026-02-01 or 2026-01-02", ""},
		{"01-02-2026", "the date 01-02-2026 can be read in two ways", ""},
		{"31/2/2026", `"31/2/2026"`, ""},
		{"2 January 2026", `"2026-01-02"`, ""},
		{"January 2, 2026", `"2026-01-02"`, ""},
		{"02.01.26", "the date 02.01.26 must have a year of four digits", ""},
		{"2-Sep", "2-Sep looks like a date that a spreadsheet has made of another value", ""},
		{"02. Jan", "02. Jan looks like a date", ""},
		{"Jan 25", "Jan 25 looks like a date", ""},
		{"May", `"May"`, ""},
		{"Magnet 3", `"Magnet 3"`, ""},
		{"Set 12", `"Set 12"`, ""},
		{"10:30", `"10:30"`, ""},
		{"a\nb", `"a\nb"`, ""},
	} {
		for separator, want := range map[string]string{",": test.commas, ";": test.semicolons, "\t": test.commas} {
			if separator == ";" && want == "" {
				want = test.commas
			}
			after, problems := edit(t, fmt.Sprintf("id%[1]setag%[1]sproperties.a\r\n1%[1]st%[1]s%[2]s\r\n", separator, quoted(test.cell)), []spreadsheet.Object{{ID: "1", ETag: "t"}})
			switch m := after[0]; {
			case len(problems) == 1 && strings.HasPrefix(problems[0].Message, want) && problems[0].Row == 2 && problems[0].Column == "properties.a":
			case len(problems) > 0 || string(m.Append(nil)) != `{"properties":{"a":`+want+`}}`:
				t.Errorf("%s by %q: %s, %+v, want %s", test.cell, separator, m.Append(nil), problems, want)
			}
		}
	}
}

// TestPositionInJSON tests the positions in the problems of cells with invalid JSON: they count the
// bytes of the cell.
func TestPositionInJSON(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		"{":                 "the JSON is not valid at byte 1: ",
		"[sic]":             "the JSON is not valid at byte 1: ",
		"  [sic]":           "the JSON is not valid at byte 3: ",
		"\u00a0[sic]":       "the JSON is not valid at byte 3: ",
		"[1, 2":             "the JSON is not valid at byte 5: ",
		`{"a" 1}`:           "the JSON is not valid at byte 5: ",
		`{"µ":[1,x]}`:       "the JSON is not valid at byte 9: ",
		`[1] [2]`:           "the JSON must not be followed by other text, which begins at byte 4",
		`{"x":1},"b":2`:     "the JSON must not be followed by other text, which begins at byte 7",
		`{"x":1}}}`:         "the JSON must not be followed by other text, which begins at byte 7",
		`{"x":1,"y":{}}  ]`: "the JSON must not be followed by other text, which begins at byte 16",
	} {
		_, problems := edit(t, "id,etag,properties.a\r\n1,t,"+quoted(cell)+"\r\n", []spreadsheet.Object{{ID: "1", ETag: "t"}})
		if len(problems) != 1 || !strings.HasPrefix(problems[0].Message, want) {
			t.Errorf("%s: %+v, want %s", cell, problems, want)
		}
	}
}

func quoted(cell string) string { return `"` + strings.ReplaceAll(cell, `"`, `""`) + `"` }

// TestUnedited tests that changes that spreadsheets make to cells do not count as edits, and other
// changes do.
func TestUnedited(t *testing.T) {
	t.Parallel()
	const no, doubt = "edited", "doubtful"
	for _, test := range []struct{ value, cell, want string }{
		{`"007"`, `7`, ""}, {`"007"`, `007`, ""}, {`"007"`, `'007`, ""}, {`"007"`, `'7`, no}, {`"007"`, `8`, no},
		{`"1E5"`, `1.00E+05`, ""}, {`"1E5"`, `100000`, ""}, {`"0,5"`, `0.5`, ""}, {`"+5"`, `5`, ""},
		{`"true"`, `WAHR`, ""}, {`"true"`, `FALSCH`, no}, {`true`, `TRUE`, ""}, {`true`, `WAHR`, ""}, {`false`, `FAUX`, ""}, {`false`, `TRUE`, no},
		{`123456789012345`, `1.23E+14`, ""}, {`123456789012345`, `1.23457E+14`, ""}, {`123456789012345`, `1,23457E+14`, ""}, {`123456789012345`, `1.24E+14`, no},
		{`123456789012345`, `123456789012346`, no}, {`123456789012345678`, `1.23456789012346E+017`, ""}, {`123456789012345678`, `123456789012346000`, ""},
		{`0.5`, `0,5`, ""}, {`0.5`, `.5`, ""}, {`0.50`, `0.5`, ""}, {`0.5`, `0.6`, no}, {`20`, `20.0`, ""}, {`1e5`, `100000`, ""}, {`1e5`, `1.00E+05`, ""},
		{`0.1234567890123`, `0.123456789`, ""}, {`0.1234567890123`, `0.12345679`, no}, {`0.1234567890123`, `0.1234567890`, ""}, {`1.2e-7`, `0.00000012`, ""}, {`0.000012345678`, `1.23457E-05`, ""}, {`0.00001`, `0`, no},
		{`-0`, `0`, ""}, {`1.5`, `01. Mai`, ""}, {`1.25`, `Jan 25`, ""}, {`1.5`, `01. Jun`, no}, {`1.234`, `1234`, doubt}, {`1.234`, `1.235`, no}, {`1234`, `1.234`, no},
		{`"2026-01-02"`, `02.01.2026`, ""}, {`"2026-01-02"`, `2.1.26`, ""}, {`"2026-01-02"`, `1/2/2026`, ""}, {`"2026-01-02"`, `02/01/2026`, ""}, {`"2026-01-02"`, `1/2/26`, ""},
		{`"2026-01-02"`, `02-01-2026`, ""}, {`"2026-01-02"`, `2026/1/2`, ""}, {`"2026-01-02"`, `2-Jan-26`, ""}, {`"2026-01-02"`, `2026-01-02 00:00:00`, ""},
		{`"2026-01-02"`, `2026-02-01`, no}, {`"2026-01-02"`, `01.02.2026`, no}, {`"2026-01-02"`, `03.01.2026`, no}, {`"2026-01-02"`, `13/1/2026`, no}, {`"2026-01-02"`, `02.01.2027`, no},
		{`"2026-01-02T10:20"`, `2026-01-02 10:20:00`, ""}, {`"2026-01-02T10:20"`, `02.01.2026 10:20`, ""}, {`"2026-01-02T13:20"`, `1/2/2026 1:20 PM`, ""}, {`"2026-01-02T10:20"`, `02.01.2026 10:21`, no},
		{`"2026-01-02T10:20"`, `02.01.2026`, no}, {`"2026-01-02T10:20:30.5Z"`, `2026-01-02 10:20:30`, ""},
		{`"1/2"`, `02. Jan`, ""}, {`"1/2"`, `2-Jan`, ""}, {`"1/2"`, `01/02/2026`, ""}, {`"1-2"`, `2-1`, no}, {`"MAR1"`, `1-Mar`, ""}, {`"MAR1"`, `01. Mrz`, ""}, {`"SEPT2"`, `2-Sep`, ""}, {`"SEPT2"`, `3-Sep`, no},
		{`"2026-01"`, `Jan-26`, ""}, {`"2026-01"`, `Feb-26`, no}, {`"10:30"`, `10:30:00 AM`, ""}, {`"10:30"`, `10:30:00`, ""}, {`"10:30"`, `22:30`, no},
		{`{"value":5,"unit":"A"}`, `5:00 AM`, ""}, {`{"value":5,"unit":"A"}`, `05:00:00`, ""}, {`{"value":5,"unit":"A"}`, `6 A`, no},
		{`{"value":50,"unit":"%"}`, `50%`, ""}, {`{"value":50,"unit":"%"}`, `50.00%`, ""}, {`{"value":50,"unit":"%"}`, "50,00\u00a0%", ""}, {`{"value":50,"unit":"%"}`, "50,00\u202f%", ""},
		{`{"value":123456789012345678,"unit":"%"}`, `123456789012346000.00%`, ""}, {`{"value":123456789012345678,"unit":"%"}`, `123456789012347000.00%`, no}, {`{"value":12.3456,"unit":"%"}`, `12,35%`, ""}, {`{"value":50,"unit":"%"}`, `51%`, no},
		{`{"value":-5,"unit":"°C"}`, `-5 °C`, ""}, {`{"value":-5,"unit":"°C"}`, `5 °C`, no}, {`{"value":1.234,"unit":"mm"}`, `1,234 mm`, ""}, {`{"value":5,"unit":"mm"}`, `5 cm`, no},
		{`"a\r\nb"`, `"a\r\nb"`, ""}, {`"a\nb"`, "a\nb", ""}, {`"a\nb "`, "a\r\nb", ""}, {`" a "`, `a`, ""}, {`"a\u00a0b"`, `a b`, ""}, {`"=1+1"`, `=1+1`, ""}, {`"=1+1"`, `2`, no},
		{`"5 Ω"`, `5 ?`, ""}, {`"5 Ω"`, `5 ??`, no}, {`"Größe"`, `GrÃ¶ÃŸe`, doubt},
		{`[1,2]`, `[1,2]`, ""}, {`[1,2]`, `[1, 2]`, ""}, {`[1,2]`, `[2,1]`, no},
	} {
		present := spreadsheet.Object{ID: "1", ETag: "t", Metadata: metadata(t, `{"properties":{"a":`+test.value+`}}`)}
		after, problems := edit(t, "id,etag,properties.a\n1,t,"+quoted(test.cell)+"\n", []spreadsheet.Object{present})
		said := no
		switch {
		case len(problems) == 1 && strings.HasPrefix(problems[0].Message, "a spreadsheet may have created this value from "):
			said = doubt
		case len(problems) == 0 && after[0].Equal(present.Metadata):
			said = ""
		}
		if said != test.want {
			t.Errorf("%s as %s: %q, want %q (%s, %+v)", test.value, test.cell, said, test.want, after[0].Append(nil), problems)
		}
	}
	long := spreadsheet.Object{ID: "1", Metadata: metadata(t, `{"properties":{"a":["`+strings.Repeat("x", 16000)+`","`+strings.Repeat("é", 8000)+`","`+strings.Repeat("z", 16000)+`"]}}`)}
	cell := long.Metadata.Append(nil)[len(`{"properties":{"a":`):]
	cut := string([]rune(string(cell))[:32767])
	if after := read(t, "id,etag,properties.a\n1,,"+quoted(cut)+"\n", []spreadsheet.Object{long}); !after[0].Equal(long.Metadata) {
		t.Error("a cell that a spreadsheet has truncated is treated as edited")
	}
}

func metadata(t fataler, text string) descriptive.Metadata {
	t.Helper()
	m, err := descriptive.Parse([]byte(text))
	if err == nil {
		err = m.Validate(descriptive.Set)
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m
}

// FuzzCell writes a string and reads it, alone and as a tag. It also reads the string as a cell.
func FuzzCell(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		o := spreadsheet.Object{ID: "1", ETag: "t", Name: text, Metadata: descriptive.Metadata{Properties: descriptive.Group{{Name: "a", Value: descriptive.TextOf(text)}}, Tags: []string{text}}}
		if o.Metadata.Validate(descriptive.Resource) != nil {
			o.Metadata.Tags = nil
		}
		if o.Metadata.Validate(descriptive.Resource) != nil {
			o.Metadata.Properties = nil
		}
		for _, separator := range ",;" {
			none := o
			none.Metadata = descriptive.Metadata{}
			if got := read(t, written(t, []spreadsheet.Object{o}, separator), []spreadsheet.Object{none}); !got[0].Equal(o.Metadata) {
				t.Fatalf("%s was read as %s", o.Metadata.Append(nil), got[0].Append(nil))
			}
		}
		after, problems := edit(t, "id,etag,properties.a,tags\n1,t,"+quoted(text)+","+quoted(text)+"\n", []spreadsheet.Object{{ID: "1", ETag: "t"}})
		if err := after[0].Validate(descriptive.Resource); err != nil && len(problems) == 0 {
			t.Fatalf("the cell %q was read as %s: %v", text, after[0].Append(nil), err)
		}
	})
}
