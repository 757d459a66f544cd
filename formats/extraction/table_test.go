package extraction_test

import (
	"strings"
	"testing"

	"labshelf/formats/descriptive"
	"labshelf/formats/extraction"
)

func TestTables(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ about, name, text, want string }{
		{"names and numbers", "a.csv", "t,T\n0,20.5\n1,20.6\n", `{"columns":[{"name":"t"},{"name":"T"}],"header lines":1}`},
		{"units in the names", "a.csv", "time [s],T (°C),p / kPa,\"v, km/h\",N (total),S/N\n0,1,2,3,4,5\n",
			`{"columns":[{"name":"time","unit":"s"},{"name":"T","unit":"°C"},{"name":"p","unit":"kPa"},{"name":"v","unit":"km/h"},{"name":"N (total)"},{"name":"S/N"}],"header lines":1}`},
		{"texts", "a.csv", "sample,operator\nS1,Ada\nS2,Bob\n", `{"columns":[{"name":"sample"},{"name":"operator"}],"header lines":1}`},
		{"strings, then numbers", "a.csv", "sample,mass\nS1,1.5\nS2,1.6\n", `{"columns":[{"name":"sample"},{"name":"mass"}],"header lines":1}`},
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
		{"decimal commas and semicolons", "a.csv", "Temperatur;20,5;°C\nDruck;1.013,25;hPa\nStrom [mA];0,5\nFluss: 1,5 L/min\n\n\nt;U [V]\n0,5;1,25\n1,5;1,5\n",
			`{"Druck":{"value":1013.25,"unit":"hPa"},"Fluss":{"value":1.5,"unit":"L/min"},"Strom":{"value":0.5,"unit":"mA"},"Temperatur":{"value":20.5,"unit":"°C"},"columns":[{"name":"t"},{"name":"U","unit":"V"}],"header lines":7}`},
		{"only quantities", "a.csv", "Temperatur;20,5;°C\nDruck;1013;hPa\n", `{"Druck":{"value":1013,"unit":"hPa"},"Temperatur":{"value":20.5,"unit":"°C"}}`},
		{"as many fields as the table", "a.csv", "Temperatur;20,5;°C\nt;a;b\n0;1,5;2\n1;2,5;2\n", `{"Temperatur":{"value":20.5,"unit":"°C"},"columns":[{"name":"t"},{"name":"a"},{"name":"b"}],"header lines":2}`},
		{"comments of three fields", "a.csv", "# Feld;1,5;T\nt;U\n0,5;1,25\n1,5;1,5\n", `{"Feld":{"value":1.5,"unit":"T"},"columns":[{"name":"t"},{"name":"U"}],"header lines":2}`},
		{"points and semicolons", "a.csv", "Power;40.125;kW\nU: 1.234 V\nt;U\n0.5;1.25\n1.5;1.5\n", `{"Power":{"value":40.125,"unit":"kW"},"U":{"value":1.234,"unit":"V"},"columns":[{"name":"t"},{"name":"U"}],"header lines":3}`},
		{"a thousand or three decimals", "a.csv", "p;1.234;V\nq: 1.234 V\nr;1,234;V\n", `{"q":"1.234 V","r":{"value":1.234,"unit":"V"}}`},
		{"a decimal comma between commas", "a.csv", "Temperatur: 20,5 °C\nn=1,234 mm\n\nt,T,U\n0,1,2\n1,1,2\n", `{"Temperatur":{"value":20.5,"unit":"°C"},"columns":[{"name":"t"},{"name":"T"},{"name":"U"}],"header lines":4,"n":"1,234 mm"}`},
		{"no quantities", "a.csv", "# a: 12h30\n# b: 5/2\n# c: 5-7 mm\n# d: 5±2 mm\n# e: 4K\n# f: 3V3\n# g: 5 zork\n# h: 007\n# i: 1_000\n# j: 0x10\n# k: ½\n0,1\n",
			`{"a":"12h30","b":"5/2","c":"5-7 mm","d":"5±2 mm","e":"4K","f":"3V3","g":"5 zork","h":"007","header lines":11,"i":"1_000","j":"0x10","k":"½"}`},
		{"quantities", "a.csv", "# a: 20°C\n# b: −5 µm\n# c: +5.5D3 mm\n# d: 1 234,5 m\n# e: 50\u202f%\n# f: 3 px\n# g: 1'234\n0,1\n",
			`{"a":{"value":20,"unit":"°C"},"b":{"value":-5,"unit":"µm"},"c":{"value":5.5e3,"unit":"mm"},"d":{"value":1234.5,"unit":"m"},"e":{"value":50,"unit":"%"},"f":{"value":3,"unit":"px"},"g":1234,"header lines":7}`},
		{"a line that names the separator", "a.csv", "\ufeffsep=;\r\nT;20,5;°C\r\nt;a,b,c,d\r\n0,5;1,5\r\n", `{"T":{"value":20.5,"unit":"°C"},"columns":[{"name":"t"},{"name":"a,b,c,d"}],"header lines":3}`},
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

// properties returns the JSON of properties.
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
		t.Errorf("%d properties, %d omitted, %v", len(r.Properties), r.Left, err)
	}
	wide := strings.Repeat("column,", 2000) + "last\n" + strings.Repeat("1,", 2000) + "1\n"
	r, err = extraction.Header(strings.NewReader(wide), int64(len(wide)), "wide.csv")
	if columns, _ := r.Properties.Get("columns"); err != nil || len(columns.List()) != 200 {
		t.Errorf("%d columns, %v", len(columns.List()), err)
	}
}

// counting counts the bytes that are read.
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
		{`{"T":{"value":"20,5","unit":"°C"},"U":"20,5 °C","id":"007","n":"5","p":{"value":"1,234","unit":"mm"},"q":{"value":20,"unit":",5 °C"},"r":"1,234 mm","s":[{"value":"−5","unit":"K"},"4K"],"t":"12h30"}`,
			`{"T":{"value":20.5,"unit":"°C"},"U":{"value":20.5,"unit":"°C"},"id":"007","n":"5","r":"1,234 mm","s":[{"value":-5,"unit":"K"},"4K"],"t":"12h30"}`, 2},
		{`{}`, `{}`, 0},
	} {
		r, err := extraction.Sidecar([]byte(test.text))
		if got := properties(r.Properties); err != nil || got != test.want || r.Left != test.left {
			t.Errorf("%s: %s, %d omitted, %v, want %s, %d", test.text, got, r.Left, err, test.want, test.left)
		}
	}
	for _, text := range []string{``, `null`, `[]`, `"x"`, `{"a":1} {}`, `{"a":1`, `{"a":"` + strings.Repeat("x", 1<<20) + `"}`} {
		if r, err := extraction.Sidecar([]byte(text)); err == nil {
			t.Errorf("%.20s: %s", text, properties(r.Properties))
		}
	}
}
