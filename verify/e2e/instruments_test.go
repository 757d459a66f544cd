package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// asking is a service with a set that extracts properties from headers and sidecars.
type asking struct {
	*Service
	t    *testing.T
	data string
	set  string
}

func serveAsking(t *testing.T) *asking {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	path, err := program()
	check(t, err)
	a := &asking{t: t, data: data}
	a.Service, err = Start(t.Context(), path, data)
	check(t, err)
	_, a.set, err = a.MakeSet(t.Context(), "measured")
	check(t, err)
	check(t, a.Call(t.Context(), http.MethodPut, "/sets/"+a.set, map[string][]string{"extract": {"header", "sidecar"}}, nil))
	return a
}

// put uploads a file, or a new version of the file with this id.
func (a *asking) put(id, name string, content []byte) string {
	a.t.Helper()
	f := File{SetID: a.set, Name: name, Filename: name, Body: bytes.NewReader(content), Size: int64(len(content))}
	method, url := http.MethodPost, "/resources"
	if id != "" {
		method, url, f.SetID = http.MethodPut, "/resources/"+id, ""
	}
	r, err := a.Upload(a.t.Context(), method, url, f)
	check(a.t, err)
	return r.ID
}

// said is the metadata of a file.
type said struct {
	Properties map[string]any
	Sources    map[string]string
}

func (a *asking) said(id string) said {
	a.t.Helper()
	var r struct{ Metadata said }
	check(a.t, a.Get(a.t.Context(), "/resources/"+id, &r))
	return r.Metadata
}

// wait waits until a property of a file has the wanted value, and returns the metadata. A nil value
// means that the property is absent.
func (a *asking) wait(id, name string, want any) (s said) {
	a.t.Helper()
	for deadline := time.Now().Add(startLimit); ; time.Sleep(5 * time.Millisecond) {
		if s = a.said(id); reflect.DeepEqual(s.Properties[name], want) {
			return s
		}
		if time.Now().After(deadline) {
			a.t.Fatalf("%s is not %v in %v", name, want, s)
		}
	}
}

// testdata returns files created by other programs, and the properties that other programs read
// from them.
func testdata(t *testing.T, names ...string) (files map[string][]byte, expected map[string]map[string]any) {
	t.Helper()
	dir := filepath.Join("..", "..", "formats", "extraction", "testdata")
	text, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	check(t, err)
	check(t, json.Unmarshal(text, &expected))
	files = map[string][]byte{}
	for _, name := range names {
		files[name], err = os.ReadFile(filepath.Join(dir, name))
		check(t, err)
	}
	return files, expected
}

// alike reports whether two values are equal. It compares numbers with a tolerance, because some
// are quotients in the file.
func alike(a, b any) bool {
	n, ok := a.(float64)
	m, also := b.(float64)
	if q, is := a.(map[string]any); is {
		p, is := b.(map[string]any)
		return is && len(q) == len(p) && !slices.ContainsFunc(slices.Collect(maps.Keys(q)), func(name string) bool { return !alike(q[name], p[name]) })
	}
	return ok && also && math.Abs(n-m) <= 1e-12*max(math.Abs(n), math.Abs(m)) || !ok && reflect.DeepEqual(a, b)
}

// TestInstruments tests that files of other programs get the same properties that other programs
// read. Sidecars and users override them. A replacement keeps the values set by users.
func TestInstruments(t *testing.T) {
	t.Parallel()
	a := serveAsking(t)
	defer func() { check(t, a.Stop()) }()
	files, expected := testdata(t, "little.tif", "image.fits", "image.fits.gz", "instrument.csv", "photo.jpg", "classic.nc", "numpy.csv")
	ids := map[string]string{}
	for name, content := range files {
		ids[name] = a.put("", name, content)
	}
	for name, id := range ids {
		some := slices.Sorted(maps.Keys(expected[name]))[0]
		waitUntil(t, func() bool { return a.said(id).Properties[some] != nil })
		s := a.said(id)
		for key, want := range expected[name] {
			if !alike(s.Properties[key], want) || s.Sources[key] != "header" {
				t.Errorf("%s: %s is %v from %q, want %v", name, key, s.Properties[key], s.Sources[key], want)
			}
		}
	}
	id := ids["numpy.csv"]
	a.put("", "numpy.csv.json", []byte(`{"operator":"Bob","gas":"Ar"}`))
	if s := a.wait(id, "gas", "Ar"); s.Sources["operator"] != "sidecar" || s.Properties["operator"] != "Bob" || s.Sources["temperature"] != "header" {
		t.Errorf("with a sidecar: %v", s)
	}
	check(t, a.Call(t.Context(), http.MethodPatch, "/resources/"+id, map[string]any{"metadata": map[string]any{"properties": map[string]any{"operator": "Eve"}}}, nil))
	a.put(id, "numpy.csv", bytes.Replace(files["numpy.csv"], []byte("21.5"), []byte("22.5"), 1))
	s := a.wait(id, "temperature", map[string]any{"value": 22.5, "unit": "°C"})
	if _, from := s.Sources["operator"]; from || s.Properties["operator"] != "Eve" || s.Properties["gas"] != "Ar" {
		t.Errorf("replaced: %v", s)
	}
	if tus := a.tus("tus.csv", files["numpy.csv"]); a.wait(tus, "operator", "Ada").Sources["operator"] != "header" {
		t.Error("a file uploaded in chunks has no properties from its header")
	}
}

// waitUntil waits until is returns true.
func waitUntil(t *testing.T, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(startLimit); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the condition was not met in time")
		}
	}
}

// tus uploads a file in two chunks, and returns the id of the resource.
func (a *asking) tus(name string, content []byte) string {
	a.t.Helper()
	text := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	made, err := a.Exchange(a.t.Context(), http.MethodPost, "/uploads", http.Header{
		"Tus-Resumable": {"1.0.0"}, "Upload-Length": {strconv.Itoa(len(content))},
		"Upload-Metadata": {"setId " + text(a.set) + ",name " + text(name) + ",filename " + text(name)},
	}, nil)
	check(a.t, err)
	var last Answer
	for _, part := range [][2]int{{0, 10}, {10, len(content)}} {
		last, err = a.Exchange(a.t.Context(), http.MethodPatch, made.Header.Get("Location"), http.Header{
			"Tus-Resumable": {"1.0.0"}, "Upload-Offset": {strconv.Itoa(part[0])}, "Content-Type": {"application/offset+octet-stream"},
		}, bytes.NewReader(content[part[0]:part[1]]))
		check(a.t, err)
	}
	id := path.Base(last.Header.Get("Labshelf-Resource"))
	if id == "." {
		a.t.Fatalf("%d %v %s", last.Status, last.Header, last.Body)
	}
	return id
}

// bombs returns files that announce or expand to much more data than they contain.
func bombs(t *testing.T) map[string][]byte {
	t.Helper()
	var zeros bytes.Buffer
	zip := gzip.NewWriter(&zeros)
	_, err := io.CopyN(zip, endless{}, 200<<20)
	check(t, errors.Join(err, zip.Close()))
	return map[string][]byte{
		"zeros.csv.gz": zeros.Bytes(), "zeros.fits.gz": zeros.Bytes(),
		"count.tif":     []byte("II*\x00\x08\x00\x00\x00\xff\xff\x0e\x01\x02\x00\xff\xff\xff\xff\x08\x00\x00\x00"),
		"loop.tif":      []byte("II*\x00\x08\x00\x00\x00\x00\x00\x08\x00\x00\x00"),
		"count.nc":      []byte("CDF\x01\x00\x00\x00\x00\x00\x00\x00\x0a\x7f\xff\xff\xff"),
		"deep.csv.json": []byte(`{"a":` + strings.Repeat(`[`, 400_000) + strings.Repeat(`]`, 400_000) + `}`),
		"deep.csv":      []byte("a,b\n1,2\n3,4\n"),
		"wide.csv":      []byte(strings.Repeat("x,", 500_000) + "\n" + strings.Repeat("1,", 500_000) + "\n"),
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestInstrumentsAndBombs tests that hostile files affect neither the service nor later files.
func TestInstrumentsAndBombs(t *testing.T) {
	t.Parallel()
	a := serveAsking(t)
	defer func() { check(t, a.Stop()) }()
	for name, content := range bombs(t) {
		a.put("", name, content)
	}
	last := a.put("", "last.csv", []byte("# operator: Ada\na,b\n1,2\n3,4\n"))
	a.wait(last, "operator", "Ada")
	if text, err := os.ReadFile(fmt.Sprint("/proc/", a.PID(), "/status")); err == nil {
		_, rest, _ := strings.Cut(string(text), "VmHWM:")
		if kib, err := strconv.Atoi(strings.Fields(rest)[0]); err != nil || kib > 200<<10 {
			t.Errorf("the service has used %d KiB, %v", kib, err)
		}
	}
}

// TestInstrumentsThroughKills kills the service while it extracts properties. No property may be
// lost, each file must be edited once, and the log must verify.
func TestInstrumentsThroughKills(t *testing.T) {
	t.Parallel()
	a := serveAsking(t)
	executable, err := program()
	check(t, err)
	var ids []string
	for round := range 5 {
		for i := range 20 {
			ids = append(ids, a.put("", fmt.Sprintf("%d-%d.csv", round, i), fmt.Appendf(nil, "# run: %d\na,b\n1,2\n3,4\n", round*20+i)))
		}
		if round > 0 { // the kill comes when only some files have properties
			filled := 25*round - 6
			a.wait(ids[filled], "run", float64(filled))
		}
		a.Kill()
		a.Service, err = Start(t.Context(), executable, a.data)
		check(t, err)
	}
	for i, id := range ids {
		a.wait(id, "run", float64(i))
		var history struct {
			Data []struct{ Action, UserID string }
		}
		check(t, a.Get(t.Context(), "/resources/"+id+"/history", &history))
		if n := len(history.Data); n != 2 || history.Data[0].Action != "resource.edit" || history.Data[0].UserID != "" {
			t.Errorf("file %d: %v", i, history.Data)
		}
	}
	folder := t.TempDir()
	log := filepath.Join(folder, "audit.jsonl")
	for _, args := range [][]string{{"audit", "export", log}, {"audit", "verify", log}} {
		cmd := exec.CommandContext(t.Context(), executable, args...)
		cmd.Env = append(Environment(), "LABSHELF_SERVER="+a.Base(), "LABSHELF_KEY="+a.Key(), "HOME="+folder)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	check(t, a.Stop())
	if o, err := Run(t.Context(), executable, "check", "--data", a.data); err != nil || o.Code != 0 {
		t.Error(o, err)
	}
}
