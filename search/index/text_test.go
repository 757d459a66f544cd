package index

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

// BenchmarkFullText measures the size of the index for the full text of the files in a folder,
// SEARCH_TEXT. The goal is at most 0.3 times the size of the text. By default the folder is docs,
// which is too small for this goal. Run it with -benchtime=1x.
func BenchmarkFullText(b *testing.B) {
	root := cmp.Or(os.Getenv("SEARCH_TEXT"), filepath.Join("..", "..", "docs"))
	l := newLab(10)
	var sizes [2]int
	text := 0
	for i, withBody := range []bool{false, true} {
		x, _, err := Open(b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		var batch []Change
		err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil || !utf8.Valid(data) {
				return err
			}
			d := l.document()
			d.Name, d.Dataspace = e.Name(), l.dataspaces[len(batch)%10]
			if withBody {
				d.Body = string(data[:min(len(data), 1<<18)])
				text += len(d.Body)
			}
			batch = append(batch, Change{Document: &d})
			if len(batch) == 500 {
				err = x.Apply(batch, nil)
				batch = nil
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		if err := x.Apply(batch, nil); err != nil {
			b.Fatal(err)
		}
		if err := x.Compact(); err != nil {
			b.Fatal(err)
		}
		b.Logf("%+v", x.Status())
		sizes[i] = x.Status().Bytes
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
	}
	ratio := float64(sizes[1]-sizes[0]) / float64(text)
	b.Logf("%d bytes of text use %.3f times that size", text, ratio)
	if ratio > 0.3 {
		b.Errorf("%.3f of the text", ratio)
	}
}
