package archive_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestStreamingReader unpacks archives with Java's ZipInputStream, which reads an archive from its
// beginning and ignores the directory. The files are empty, compressed, or longer than one buffer,
// with names in any script.
func TestStreamingReader(t *testing.T) {
	t.Parallel()
	random := make([]byte, 3<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random)
	noise := string(random)
	contents := []content{
		{"empty", "text/plain", ""}, {"empty.png", "image/png", ""}, {"table.csv", "text/csv", strings.Repeat("0,1.5\n", 50_000)},
		{"noise.bin", "application/octet-stream", noise}, {"noise.png", "image/png", noise}, {"one.gz", "application/gzip", "x"},
		{"日本語/größe.txt", "text/plain", "x"}, {"within.zip", "application/zip", zipWithin}, {"after.txt", "text/plain", "after"},
	}
	for n := range 20 { // around 65,535 bytes, the size of a stored block
		contents = append(contents, content{fmt.Sprintf("blocks/%d.mp4", n), "video/mp4", noise[:65_535*(n/10+1)+n%10-5]})
	}
	path := packed(t, contents)
	tested(t, path)
	entries, _, _ := unpacked(t, path)
	jar, err := exec.LookPath("jar")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("not unpacked by jar, which is not installed")
	}
	archived, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	unpack := exec.Command(jar, "x") // jar reads an archive from standard input with ZipInputStream
	unpack.Dir, unpack.Stdin, unpack.Env = folder, archived, append(os.Environ(), "LC_ALL=C.UTF-8")
	output, err := unpack.CombinedOutput()
	if err = errors.Join(err, archived.Close()); err != nil {
		t.Fatalf("jar: %v\n%s", err, output)
	}
	for n, entry := range entries {
		body, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(entry.Name)))
		if err != nil || !bytes.Equal(body, []byte(contents[n].body)) {
			t.Errorf("%s has %d bytes, want %d, %v", entry.Name, len(body), len(contents[n].body), err)
		}
	}
	files := 0
	err = fs.WalkDir(os.DirFS(folder), ".", func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files++
		}
		return err
	})
	if err != nil || files != len(contents)+2 {
		t.Errorf("jar unpacked %d files, want %d, %v", files, len(contents)+2, err)
	}
}

// zipWithin contains the signatures of an entry, a data descriptor and a directory.
const zipWithin = "PK\x03\x04\x14\x00\x08\x00\x08\x00PK\x07\x08\x00\x00\x00\x00PK\x01\x02PK\x05\x06"
