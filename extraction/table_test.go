package extraction_test

import (
	"strings"
	"testing"

	"labshelf/descriptive"
	"labshelf/extraction"
)

func TestTables(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ about, name, text, want string }{
		{"names and numbers", "a.csv", "t,T\n0,20.5\n1,20.6\n", `{"columns":[{"name":"t"},{"name":"T"}],"header lines":1}`},
		{"units in the names", "a.csv", "time [s],T (°C),p / kPa,\"v, km/h\",N (total),S/N\n0,1,2,3,4,5\n",
			`{"columns":[{"name":"time","unit":"s"},{"name":"T","unit":"°C"},{"name":"p","unit":"kPa"},{"name":"v","unit":"km/h"},{"name":"N (total)"},{"name":"S/N"}],"header lines":1}`},
		{"texts", "a.csv", "sample,operator\nS1,Ada\nS2,Bob\n", `{"columns":[{"name":"sample"},{"name":"operator"}],"header lines":1}`},
		{"texts, then numbers", "a.csv", "sample,mass\nS1,1.5\nS2,1.6\n", `{"columns":[{"name":"sample"},{"name":"mass"}],"header lines":1}`},
		{"tabs", "a.TSV", "t\tT, K\n2026-01-02 10:20:30\t1,5\n2026-01-02 10:20:31\t1,6\n", `{"columns":[{"name":"t"},{"name":"T","unit":"K"}],"header lines":1}`},
		{"semicolons and commas in numbers", "a.csv", "t;T\r\n0,5;1,5\r\n1,0;1,6\r\n", `{"columns":[{"name":"t"},{"name":"T"}],"header lines":1}`},
		{"no names", "a.csv", "0,1\n1,2\n", `{}`},
		{"comments", "a.csv", "# Operator: Ada\n#  field = 1.5 T\n# note\n% n\t3\n\nt,T\n0,1\n",
			`{"Operator":"Ada","columns":[{"name":"t"},{"name":"T"}],"field":{"value":1.5,"unit":"T"},"header lines":6}`},
		{"a preamble of two columns before two columns", "a.csv", "Instrument,XRD\nPower,40\nVoltage (kV),30\nClosed,true\nAngle,Counts\n10,5\n11,6\n",
			`{"Closed":true,"Instrument":"XRD","Power":40,"Voltage":{"value":30,"unit":"kV"},"columns":[{"name":"Angle"},{"name":"Counts"}],"header lines":5}`},
		{"a preamble of one column", "a.csv", "Operator: Ada\nURL http://x\n\nt,T,p\n0,1,2\n1,1,2\n",
			`{"Operator":"Ada","columns":[{"name":"t"},{"name":"T"},{"name":"p"}],"header lines":4}`},
		{"a line of units", "a.csv", "t,T,ok\n[s],[counts],\n0,1,2\n",
			`{"columns":[{"name":"t","unit":"s"},{"name":"T","unit":"counts"},{"name":"ok"}],"header lines":2}`},
		{"a byte order mark", "a.csv", "\ufefft,T\n0,1\n", `{"columns":[{"name":"t"},{"name":"T"}],"header lines":1}`},
		{"UTF-16", "a.csv", "\xff\xfet\x00,\x00T\x00\n\x000\x00,\x001\x00", `{"columns":[{"name":"t"},{"name":"T"}],"header lines":1}`},
		{"the same name twice", "a.csv", "#a: 1\n#a: 2\n#b: 3\nt,T\n0,1\n", `{"a":1,"b":3,"columns":[{"name":"t"},{"name":"T"}],"header lines":4}`},
		{"signs that no name has", "a.csv", "#[x].y!: 1\n#__: 2\n0,1\n", `{"header lines":2,"x)_y_":1}`},
		{"nothing", "a.csv", "", `{}`},
		{"white space", "a.csv", "\n \n", `{}`},
		{"one line", "a.csv", "a,b", `{"a":"b"}`},
		{"another extension", "a.txt", "t,T\n0,1\n", `{}`},
	} {
		r, err := extraction.Header(strings.NewReader(test.text), int64(len(test.text)), test.name)
		if got := properties(r.Properties); err != nil || got != test.want {
			t.Errorf("%s: %s, %v, want %s", test.about, got, err, test.want)
		}
	}
}

// properties is their JSON.
func properties(g descriptive.Group) string {
	if len(g) == 0 {
		return `{}`
	}
	text := string(descriptive.Metadata{Properties: g}.Append(nil))
	return strings.TrimSuffix(strings.TrimPrefix(text, `{"properties":`), `}`)
}

func TestTablesAreReadToTheirBounds(t *testing.T) {
	t.Parallel()
	long := "# a: 1\nt,T\n" + strings.Repeat("0,1\n", 1<<20)
	in := &counting{Reader: strings.NewReader(long)}
	r, err := extraction.Header(in, int64(len(long)), "long.csv")
	if want := `{"a":1,"columns":[{"name":"t"},{"name":"T"}],"header lines":2}`; err != nil || properties(r.Properties) != want || in.read > 65<<10 {
		t.Errorf("%s, %v, %d bytes read", properties(r.Properties), err, in.read)
	}
	many := ""
	for range 300 {
		many += "# n" + strings.Repeat("x", len(many)%50) + strings.Repeat("y", len(many)/150) + ": 1\n"
	}
	if r, err := extraction.Header(strings.NewReader(many), int64(len(many)), "many.csv"); err != nil || len(r.Properties) > extraction.MaxProperties || r.Left == 0 {
		t.Errorf("%d properties, %d left out, %v", len(r.Properties), r.Left, err)
	}
	wide := strings.Repeat("column,", 2000) + "last\n" + strings.Repeat("1,", 2000) + "1\n"
	r, err = extraction.Header(strings.NewReader(wide), int64(len(wide)), "wide.csv")
	if columns, _ := r.Properties.Get("columns"); err != nil || len(columns.List()) != 200 {
		t.Errorf("%d columns, %v", len(columns.List()), err)
	}
}

// counting counts what is read.
type counting struct {
	*strings.Reader
	read int
}

func (c *counting) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.Reader.ReadAt(b, at)
	c.read += n
	return n, err
}

func TestSidecars(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 9) + "1" + strings.Repeat("}", 9)
	for _, test := range []struct {
		text, want string
		left       int
	}{
		{`{"T":{"value":20,"unit":"°C"},"n":1.50,"ok":true,"on":"2026-01-02","runs":[1,"b"],"sample":{"id":"S1"}}`,
			`{"T":{"value":20,"unit":"°C"},"n":1.50,"ok":true,"on":"2026-01-02","runs":[1,"b"],"sample":{"id":"S1"}}`, 0},
		{`{"properties":{"n":1},"tags":["a"]}`, `{"n":1}`, 0},
		{`{"id":"x","name":"y","metadata":{"tags":["a"],"properties":{"n":1}}}`, `{"n":1}`, 0},
		{`{"properties":[1],"metadata":{"x":1}}`, `{"metadata":{"x":1},"properties":[1]}`, 0},
		{`{"a":null,"b":[1,null],"c":{"d":null,"e":2},"f":1e999,"g":"","h":[],"i":{}}`, `{"b":[1],"c":{"e":2}}`, 4},
		{`{"instrument.name":"x","@type":"y","T [K]":1,"__":2," a ":3,"a":4}`, `{"T (K)":1,"a":3,"instrument_name":"x","type":"y"}`, 2},
		{`{"` + strings.Repeat("é", 60) + `":1}`, `{"` + strings.Repeat("é", 50) + `":1}`, 0},
		{`{"deep":` + deep + `,"n":1}`, `{"deep":{"a":{"a":{"a":{"a":{"a":{"a":{}}}}}}},"n":1}`, 1},
		{`{"long":"` + strings.Repeat("x", 17<<10) + `","turned":"\u202e","n":1}`, `{"n":1}`, 2},
		{"\ufeff{\"n\":1}", `{"n":1}`, 0},
		{`{}`, `{}`, 0},
	} {
		r, err := extraction.Sidecar([]byte(test.text))
		if got := properties(r.Properties); err != nil || got != test.want || r.Left != test.left {
			t.Errorf("%s: %s, %d left out, %v, want %s, %d", test.text, got, r.Left, err, test.want, test.left)
		}
	}
	for _, text := range []string{``, `null`, `[]`, `"x"`, `{"a":1} {}`, `{"a":1`, `{"a":"` + strings.Repeat("x", 1<<20) + `"}`} {
		if r, err := extraction.Sidecar([]byte(text)); err == nil {
			t.Errorf("%.20s: %s", text, properties(r.Properties))
		}
	}
}
