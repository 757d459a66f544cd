package archive_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"labshelf/formats/archive"
	_ "labshelf/internal/testhome"
)

var set = archive.Set{ID: "01S", Name: "Größe <1>"}

// content is one file for an archive.
type content struct{ name, mimetype, body string }

func fileOf(id string, c content) archive.File {
	return archive.File{
		ID: id, Name: c.name, MimeType: c.mimetype, Bytes: int64(len(c.body)), SHA256: sha256.Sum256([]byte(c.body)),
		Modified: time.Date(2026, 3, 30, 16, 9, 44, 90e6, time.UTC),
	}
}

// packed writes an archive to the disk, and returns its path.
func packed(t *testing.T, contents []content) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "archive.zip")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := archive.NewWriter(file, set)
	for i, c := range contents {
		if err := w.Add(fileOf(fmt.Sprintf("%07d", i), c), strings.NewReader(c.body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// tested checks an archive with the usual programs. A missing program is skipped, except in CI.
func tested(t *testing.T, path string) {
	t.Helper()
	for _, command := range [][]string{{"unzip", "-tqq", path}, {"python3", "-m", "zipfile", "-t", path}} {
		if _, err := exec.LookPath(command[0]); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Logf("not checked with %s, which is not installed", command[0])
			continue
		}
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
}

// unpacked reads an archive with Go's own reader.
func unpacked(t *testing.T, path string) (entries []*zip.File, manifest map[string]any, sums string) {
	t.Helper()
	reader, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	n := len(reader.File)
	if n < 2 || reader.File[n-2].Name != archive.SumsName || reader.File[n-1].Name != archive.ManifestName {
		t.Fatalf("the last two of %d entries are wrong", n)
	}
	if err := json.Unmarshal([]byte(read(t, reader.File[n-1])), &manifest); err != nil {
		t.Fatal(err)
	}
	return reader.File[:n-2], manifest, read(t, reader.File[n-2])
}

func read(t *testing.T, entry *zip.File) string {
	t.Helper()
	reader, err := entry.Open()
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(reader)
	if err := errors.Join(err, reader.Close()); err != nil {
		t.Fatalf("%s: %v", entry.Name, err)
	}
	return string(body)
}

func TestArchive(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0,1.5\n", 50_000)
	contents := []content{
		{"day 1/run.csv", "text/csv; charset=utf-8", long}, {"day 1/run.csv", "text/csv", "other"}, {"Bild.PNG", "image/png", long},
		{"日本語/größe.txt", "text/plain", "x"}, {"empty", "text/plain", ""}, {"../../CON.svg", "image/svg+xml", long},
		{"x.bin", "application/octet-stream", long}, {"x.tar.GZ", "application/octet-stream", long},
	}
	wants := []struct {
		path    string
		smaller bool // smaller than the file
	}{
		{"day 1/run.csv", true}, {"day 1/run (0000001).csv", false}, {"Bild.PNG", false}, {"日本語/größe.txt", false},
		{"empty", false}, {"_CON.svg", true}, {"x.bin", true}, {"x.tar.GZ", false},
	}
	path := packed(t, contents)
	tested(t, path)
	entries, manifest, sums := unpacked(t, path)
	if len(entries) != len(contents) || manifest["count"] != float64(len(contents)) || manifest["setName"] != set.Name || manifest["setId"] != set.ID {
		t.Fatalf("%d entries, manifest %v", len(entries), manifest)
	}
	wantSums := ""
	for i, entry := range entries {
		want, c := wants[i], contents[i]
		if entry.Name != want.path || entry.CompressedSize64 < entry.UncompressedSize64 != want.smaller || read(t, entry) != c.body || entry.NonUTF8 {
			t.Errorf("entry %d is %s with %d compressed bytes for %d bytes, want %+v with %d", i, entry.Name, entry.CompressedSize64, entry.UncompressedSize64, want, len(c.body))
		}
		if entry.Method != zip.Deflate {
			t.Errorf("%s has the method %d, whose end a stream cannot detect", entry.Name, entry.Method)
		}
		if !entry.Modified.Equal(time.Date(2026, 3, 30, 16, 9, 44, 0, time.UTC)) || entry.Mode() != 0o644 {
			t.Errorf("%s is of %v with mode %v", entry.Name, entry.Modified, entry.Mode())
		}
		sum := sha256.Sum256([]byte(c.body))
		wantSums += hex.EncodeToString(sum[:]) + "  " + want.path + "\n"
		got := manifest["files"].(map[string]any)[fmt.Sprintf("%07d", i)]
		listed := map[string]any{
			"path": want.path, "name": c.name, "bytes": float64(len(c.body)), "sha256": hex.EncodeToString(sum[:]), "mimetype": c.mimetype,
			"modified": "2026-03-30T16:09:44.090Z",
		}
		if fmt.Sprint(got) != fmt.Sprint(listed) {
			t.Errorf("the manifest has %v, want %v", got, listed)
		}
	}
	if sums != wantSums {
		t.Errorf("the sums are\n%swant\n%s", sums, wantSums)
	}
	entries, manifest, sums = unpacked(t, packed(t, nil))
	if len(entries) != 0 || manifest["count"] != float64(0) || sums != "" {
		t.Errorf("an empty archive has %d entries, %v, %q", len(entries), manifest, sums)
	}
	tested(t, packed(t, nil))
}

// TestManyFiles tests an archive with more files than fit into a zip without 64-bit records. With
// -short, it uses fewer files, because the test takes minutes under the race detector.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	n := 66_000
	if testing.Short() {
		n = 2_000
	}
	contents := make([]content, n)
	for i := range contents {
		contents[i] = content{fmt.Sprintf("%d/%d", i%100, i/2), "text/plain", "x"}
	}
	path := packed(t, contents)
	tested(t, path)
	entries, manifest, sums := unpacked(t, path)
	if len(entries) != n || manifest["count"] != float64(n) || len(manifest["files"].(map[string]any)) != n || strings.Count(sums, "\n") != n {
		t.Errorf("%d entries of %d, %v in the manifest, %d sums", len(entries), n, manifest["count"], strings.Count(sums, "\n"))
	}
}

// zeros is a reader of zeros that needs no memory.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// sparse writes zeros at the end of each write as a hole, so that they need no space on the disk.
type sparse struct {
	*os.File
}

func (s sparse) Write(p []byte) (int, error) {
	content := bytes.TrimRight(p, "\x00")
	if _, err := s.File.Write(content); err != nil {
		return 0, err
	}
	_, err := s.Seek(int64(len(p)-len(content)), io.SeekCurrent)
	return len(p), err
}

// Close punches a hole for the zeros at the end of the file.
func (s sparse) Close() error {
	end, err := s.Seek(0, io.SeekCurrent)
	return errors.Join(err, s.Truncate(end), s.File.Close())
}

// TestLargeFile tests a file of more than 4 GiB, and another one after it. With -short, it stays
// within 32 bits, because hashing takes long under the race detector.
func TestLargeFile(t *testing.T) {
	t.Parallel()
	size, sum := int64(4<<30+12345), "59ead87e2e32370612861365e7dcf1543fb29afaa0b29432c37eab5373fed514"
	if testing.Short() {
		size, sum = 8<<20, "2daeb1f36095b44b318410b3f4e8b5d989dcc7bb023d1426c492dab0a3053e74"
	}
	digest, err := hex.DecodeString(sum)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "large.zip"))
	if err != nil {
		t.Fatal(err)
	}
	holes := sparse{file}
	w := archive.NewWriter(holes, set)
	large := archive.File{ID: "1", Name: "large.mp4", MimeType: "video/mp4", Bytes: size, SHA256: [32]byte(digest)}
	err = errors.Join(w.Add(large, io.LimitReader(zeros{}, size)), w.Add(fileOf("2", content{"b.txt", "text/plain", "behind"}), strings.NewReader("behind")))
	if err := errors.Join(err, w.Close(), holes.Close()); err != nil {
		t.Fatal(err)
	}
	entries, _, _ := unpacked(t, file.Name())
	if entries[0].UncompressedSize64 != uint64(size) || entries[0].CompressedSize64 < uint64(size) || read(t, entries[1]) != "behind" {
		t.Errorf("the large entry has %d bytes of %d", entries[0].UncompressedSize64, size)
	}
}

// TestWrongContent tests that an archive fails if the bytes of a file differ from its digest.
func TestWrongContent(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for what, c := range map[string]struct {
		body io.Reader
		want error
	}{
		"other bytes": {strings.NewReader("contenT"), archive.ErrContent},
		"too short":   {strings.NewReader("conten"), archive.ErrContent},
		"too long":    {strings.NewReader("content."), archive.ErrContent},
		"unreadable":  {io.MultiReader(strings.NewReader("con"), failing{broken}), broken},
	} {
		w := archive.NewWriter(io.Discard, set)
		if err := w.Add(fileOf("1", content{"a", "text/plain", "content"}), c.body); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestMemoryOfSmallArchive measures the memory that an archive with one file uses until it is
// sent. A slow client occupies this memory, for which the service reserves 1 MiB.
func TestMemoryOfSmallArchive(t *testing.T) {
	body := bytes.Repeat([]byte{1}, 1000)
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w := archive.NewWriter(io.Discard, archive.Set{ID: "1", Name: "set"})
			if err := w.Add(archive.File{ID: "2", Name: "a.png", MimeType: "image/png", Bytes: 1000, SHA256: sha256.Sum256(body)}, bytes.NewReader(body)); err != nil {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	if allocated > 1<<20 {
		t.Errorf("an archive with one file uses %d bytes of memory", allocated)
	}
}
