package extraction_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"labshelf/formats/descriptive"
	"labshelf/formats/extraction"
)

// TestPropertiesMatchOtherPrograms compares the properties of files created by astropy, netCDF4,
// scipy, tifffile, Pillow and piexif with the properties that these programs and exiftool read.
// testdata/make.py created both.
func TestPropertiesMatchOtherPrograms(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]map[string]any
	if err := json.Unmarshal(text, &expected); err != nil {
		t.Fatal(err)
	}
	if len(expected) < 11 {
		t.Errorf("%d files", len(expected))
	}
	for name, want := range expected {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			if !extraction.HasHeader(name, file[:extraction.Beginning]) {
				t.Error("the file has no header that is read")
			}
			r, err := extraction.Header(bytes.NewReader(file), int64(len(file)), name)
			if err != nil || r.Left != 0 {
				t.Fatal(r.Left, err)
			}
			got := decoded(t, r.Properties)
			for key := range want {
				if !same(got[key], want[key]) {
					t.Errorf("%s is %v, want %v", key, got[key], want[key])
				}
			}
			for key := range got {
				if _, there := want[key]; !there {
					t.Errorf("%s is %v, but was not read", key, got[key])
				}
			}
		})
	}
}

// decoded returns properties as decoded by another JSON decoder.
func decoded(t *testing.T, g descriptive.Group) map[string]any {
	t.Helper()
	m := descriptive.Metadata{Properties: g}
	if err := m.Validate(descriptive.Resource); err != nil {
		t.Error(err)
	}
	var all struct{ Properties map[string]any }
	if err := json.Unmarshal(m.Append(nil), &all); err != nil {
		t.Fatal(err)
	}
	return all.Properties
}

// same compares two values. Numbers may differ slightly, because the file may store quotients.
func same(a, b any) bool {
	switch a := a.(type) {
	case float64:
		n, ok := b.(float64)
		return ok && math.Abs(a-n) <= 1e-12*max(math.Abs(a), math.Abs(n))
	case []any:
		list, ok := b.([]any)
		if !ok || len(a) != len(list) {
			return false
		}
		for i := range a {
			if !same(a[i], list[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		group, ok := b.(map[string]any)
		if !ok || len(a) != len(group) {
			return false
		}
		for name := range a {
			if !same(a[name], group[name]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

// TestDICOMPreamble tests that a DICOM file whose preamble looks like a TIFF image without a
// directory has neither properties nor an error.
func TestDICOMPreamble(t *testing.T) {
	t.Parallel()
	for _, preamble := range []string{"II*\x00\xe8\x05\x08\x00", "MM\x00*\x00\x00\x00\x08"} {
		file := preamble + string(make([]byte, 128-len(preamble))) + "DICM\x02\x00\x00\x00UL\x04\x00"
		r, err := extraction.Header(bytes.NewReader([]byte(file)), int64(len(file)), "MR_small.dcm")
		if err != nil || len(r.Properties) != 0 {
			t.Errorf("%q: %v, %v", preamble, r.Properties, err)
		}
		if _, err := extraction.Header(bytes.NewReader([]byte(file[:100])), 100, "cut.tif"); err == nil && preamble[0] == 'I' {
			t.Errorf("%q: a cut TIFF image has no error", preamble)
		}
	}
}
