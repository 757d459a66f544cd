package spreadsheet_test

import (
	"fmt"
	"io"
	"runtime"
	"testing"

	"labshelf/formats/descriptive"
	"labshelf/formats/spreadsheet"
)

// wideObjects returns objects with many properties, most of them without their own column.
func wideObjects(tb testing.TB, objects, properties int) (all []spreadsheet.Object) {
	tb.Helper()
	for i := range objects {
		var group descriptive.Group
		for n := range properties {
			group = append(group, descriptive.Property{Name: fmt.Sprintf("p%03d-%04d", i%7, n), Value: descriptive.TextOf("a value of some length")})
		}
		all = append(all, spreadsheet.Object{ID: fmt.Sprint(i), ETag: "0", Name: "file.csv", Metadata: descriptive.Metadata{Properties: group}})
	}
	return all
}

func export(tb testing.TB, objects []spreadsheet.Object, to io.Writer) {
	tb.Helper()
	var columns spreadsheet.Columns
	for _, o := range objects {
		columns.Add(o.Metadata)
	}
	w, err := spreadsheet.NewWriter(to, columns, ',')
	for _, o := range objects {
		if err == nil {
			err = w.Write(o)
		}
	}
	if err != nil {
		tb.Fatal(err)
	}
}

type countingWriter struct{ bytes int64 }

func (c *countingWriter) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	return len(p), nil
}

// TestWideExportMemory tests that memory is proportional to the output, however many properties
// have no column.
func TestWideExportMemory(t *testing.T) {
	objects := wideObjects(t, 20, 900)
	var written countingWriter
	export(t, objects, io.Discard) // compile the regular expressions, which are compiled at first use
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	export(t, objects, &written)
	runtime.ReadMemStats(&after)
	if allocated := int64(after.TotalAlloc - before.TotalAlloc); allocated > 20*written.bytes {
		t.Errorf("an export of %d bytes allocates %d, want at most 20 times as many", written.bytes, allocated)
	}
}

func BenchmarkWideExport(b *testing.B) {
	objects := wideObjects(b, 20, 900)
	b.ReportAllocs()
	for b.Loop() {
		export(b, objects, io.Discard)
	}
}
