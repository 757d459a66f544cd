package extraction_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"labshelf/formats/descriptive"
	"labshelf/formats/extraction"
)

// TestHostileFiles tests the limits of readers. Each file claims sizes that would take unbounded
// time or memory.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	for name, file := range hostile(t) {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			begun := time.Now()
			r, err := extraction.Header(bytes.NewReader(file), int64(len(file)), name)
			took := time.Since(begun)
			runtime.ReadMemStats(&after)
			if err != nil && !errors.Is(err, extraction.ErrFormat) {
				t.Error(err)
			}
			if err := (descriptive.Metadata{Properties: r.Properties}).Validate(descriptive.Resource); err != nil {
				t.Error(err)
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 128<<20 || took > 5*time.Second {
				t.Errorf("%v, %d MiB", took, allocated>>20)
			}
		})
	}
}

func hostile(t *testing.T) map[string][]byte {
	t.Helper()
	// its next directory is itself
	loop := []byte("II*\x00\x08\x00\x00\x00\x01\x00\x00\x01\x03\x00\x01\x00\x00\x00\x07\x00\x00\x00\x08\x00\x00\x00")
	chain := []byte("MM\x00*\x00\x00\x00\x08")
	for range 200_000 { // number of directories
		chain = append(chain, "\x00\x01\x01\x00\x00\x03\x00\x00\x00\x01\x00\x07\x00\x00"...)
		chain = binary.BigEndian.AppendUint32(chain, uint32(len(chain)+4))
	}
	counts := []byte("MM\x00*\x00\x00\x00\x08\x00\x04")
	for _, tag := range []uint16{0x0102, 0x010e, 0x8769, 0x8825} {
		counts = binary.BigEndian.AppendUint16(counts, tag)
		counts = append(counts, "\x00\x0c\xff\xff\xff\xff\xff\xff\xff\xff"...)
	}
	var bomb bytes.Buffer
	zip, err := gzip.NewWriterLevel(&bomb, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	for range 64 {
		if _, err := zip.Write(bytes.Repeat([]byte("#"), 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"loop.tif":     loop,
		"chain.tif":    chain,
		"counts.tif":   counts,
		"entries.tif":  append([]byte("II+\x00\x08\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\x7f"), make([]byte, 64)...),
		"far.tif":      []byte("II+\x00\x08\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"),
		"self.jpg":     append([]byte("\xff\xd8\xff\xe1\x00\x22Exif\x00\x00"), loop...),
		"fill.jpg":     append([]byte("\xff\xd8"), bytes.Repeat([]byte("\xff"), 1<<20)...),
		"endless.fits": bytes.Repeat([]byte("SIMPLE  =                    T"+strings.Repeat(" ", 50)), 400_000),
		"comments.fits": append([]byte("SIMPLE  =                    T"+strings.Repeat(" ", 50)),
			bytes.Repeat([]byte("COMMENT x"+strings.Repeat("y", 71)), 400_000)...),
		"count.nc":     []byte("CDF\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0a\x7f\xff\xff\xff\xff\xff\xff\xff"),
		"value.nc":     []byte("CDF\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0c\x00\x00\x00\x01\x00\x00\x00\x01a\x00\x00\x00\x00\x00\x00\x06\xff\xff\xff\xff"),
		"many.nc":      append([]byte("CDF\x01\x00\x00\x00\x00\x00\x00\x00\x0a\x00\x00\x27\x10"), make([]byte, 1<<20)...),
		"bomb.csv.gz":  bomb.Bytes(),
		"bomb.fits.gz": bomb.Bytes(),
		"quotes.csv":   bytes.Repeat([]byte(`"`), 1<<20),
		"commas.csv":   bytes.Repeat([]byte(`,`), 1<<20),
		"lines.csv":    bytes.Repeat([]byte("#\n"), 1<<20),
		"ome.tif":      described("<OME " + strings.Repeat("<a x='&amp;'>", 300_000)),
		"entities.tif": described(`<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><OME><Image Name="&b;&b;"/></OME>`),
		"imagej.tif":   described("ImageJ=1\n" + strings.Repeat("x=1\n", 900_000)),
	}
}

// described returns a TIFF with a description.
func described(text string) []byte {
	b := []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x0e\x00\x02")
	b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
	b = binary.BigEndian.AppendUint32(b, 26)
	return append(append(b, "\x00\x00\x00\x00"...), text...)
}

// TestCutFiles truncates every file of other programs at many offsets, and reads it. The result is
// an error or fewer properties.
func TestCutFiles(t *testing.T) {
	t.Parallel()
	for _, name := range fixtures(t) {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		step := 5
		if testing.Short() {
			step = 31
		}
		for n := 0; n < len(file); n += step {
			r, err := extraction.Header(bytes.NewReader(file[:n]), int64(n), name)
			if err != nil && !errors.Is(err, extraction.ErrFormat) || err == nil && (descriptive.Metadata{Properties: r.Properties}).Validate(descriptive.Resource) != nil {
				t.Fatalf("%s up to %d: %s, %v", name, n, properties(r.Properties), err)
			}
		}
	}
}

// fixtures returns the names of the files that other programs created.
func fixtures(t testing.TB) (names []string) {
	for _, pattern := range []string{"*.fits*", "*.nc", "*.tif", "*.jpg", "*.csv"} {
		found, err := filepath.Glob(filepath.Join("testdata", pattern))
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		names = append(names, found...)
	}
	return names
}

func FuzzHeader(f *testing.F) {
	for _, name := range fixtures(f) {
		file, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file, filepath.Base(name))
	}
	f.Fuzz(func(t *testing.T, file []byte, name string) {
		r, err := extraction.Header(bytes.NewReader(file), int64(len(file)), name)
		if err != nil && !errors.Is(err, extraction.ErrFormat) {
			t.Fatal(err)
		}
		valid(t, r)
	})
}

func FuzzSidecar(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b.c":null}],"T [K]":{"value":1e5,"unit":"K"}}`))
	f.Add([]byte(`{"metadata":{"properties":{"` + "e\u0301" + `":"2026-01-02"}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := extraction.Sidecar(text)
		if err != nil && !errors.Is(err, extraction.ErrFormat) {
			t.Fatal(err)
		}
		valid(t, r)
	})
}

// valid fails the test unless package descriptive accepts the properties, also after they were
// encoded and parsed again.
func valid(t *testing.T, r extraction.Result) {
	m := descriptive.Metadata{Properties: r.Properties}
	if err := m.Validate(descriptive.Resource); err != nil || len(r.Properties) > extraction.MaxProperties {
		t.Fatalf("%d properties: %v", len(r.Properties), err)
	}
	text := m.Append(nil)
	again, err := descriptive.Parse(text)
	if err != nil || !again.Equal(m) {
		t.Fatalf("%s: %v", text, err)
	}
}
