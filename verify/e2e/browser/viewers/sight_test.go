package viewers

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// goFile returns a file of the tests of Go's standard library.
func goFile(t *testing.T, path string) string {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "src", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// member is a file in an archive.
type member struct {
	path    string
	content string
}

// zipMembers returns the files that Go finds in a ZIP archive.
func zipMembers(t *testing.T, content string) (all []member) {
	t.Helper()
	archive, err := zip.NewReader(strings.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, member{f.Name, string(body)})
	}
	return all
}

// tarMembers returns the files that Go finds in a tar archive, which may be compressed.
func tarMembers(t *testing.T, content string) (all []member) {
	t.Helper()
	var source io.Reader = strings.NewReader(content)
	if unpacked, err := gzip.NewReader(strings.NewReader(content)); err == nil {
		source = unpacked
	}
	for archive := tar.NewReader(source); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			all = append(all, member{header.Name, string(body)})
		}
	}
}

// gzipMember returns the content of all members of a gzip file, as Go reads it.
func gzipMember(t *testing.T, content string) []member {
	t.Helper()
	r, err := gzip.NewReader(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return []member{{"members.txt", string(body)}}
}

// packed returns content compressed with gzip.
func packed(t *testing.T, content string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(content))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sights waits until a decoder shows a file.
func (l *viewer) sights(decoder string) {
	l.T.Helper()
	l.Until(fmt.Sprintf(`document.querySelector('[data-sight=%q]')`, decoder))
}

// Archives show the files that Go's reader finds in them, with their sizes. Each of these files can
// be viewed like any other file.
func TestSightOfArchives(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	for _, c := range []struct {
		name, content, decoder string
		members                func(*testing.T, string) []member
	}{
		{"test.zip", goFile(t, "archive/zip/testdata/test.zip"), "zip", zipMembers},
		{"unix.zip", goFile(t, "archive/zip/testdata/unix.zip"), "zip", zipMembers},
		{"zip64.zip", goFile(t, "archive/zip/testdata/zip64.zip"), "zip", zipMembers},
		{"prefix.zip", "PK\x03\x04" + goFile(t, "archive/zip/testdata/test-prefix.zip")[4:], "zip", zipMembers},
		{"utf8.zip", goFile(t, "archive/zip/testdata/utf8-infozip.zip"), "zip", zipMembers},
		{"gnu.tar", goFile(t, "archive/tar/testdata/gnu.tar"), "tar", tarMembers},
		{"pax.tar", goFile(t, "archive/tar/testdata/pax.tar"), "tar", tarMembers},
		{"ustar.tar.gz", packed(t, goFile(t, "archive/tar/testdata/ustar.tar")), "tar", tarMembers},
		{"members.txt.gz", packed(t, "first\n") + packed(t, "other\n"), "tar", gzipMember},
		{"gnu-utf8.tgz", packed(t, goFile(t, "archive/tar/testdata/gnu-utf8.tar")), "tar", tarMembers},
	} {
		t.Log(c.name)
		l.file(c.name, c.content)
		l.sights(c.decoder)
		l.Do(chromedp.Evaluate[chromedp.Void](`for (const folder of document.querySelectorAll(".entries details")) folder.open = true`))
		want := []string{}
		for _, m := range c.members(t, c.content) {
			want = append(want, fmt.Sprintf("%s %d", m.path, len(m.content)))
		}
		slices.Sort(want)
		l.WaitFor(func() error {
			shown := browser.Get(l.Visitor, chromedp.Evaluate[[]string](`[...document.querySelectorAll(".member")].map((e) =>
				e.querySelector("button").title + " " + e.querySelector("data").value)`))
			slices.Sort(shown)
			if !slices.Equal(shown, want) {
				return fmt.Errorf("the page shows %q; want %q", shown, want)
			}
			return nil
		})
		for i, m := range c.members(t, c.content) {
			if i < 2 && m.content != "" && !strings.Contains(m.content, "\x00") && !strings.HasSuffix(m.path, ".png") {
				l.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void [...document.querySelectorAll(".member button")].find((b) => b.title === %q).click()`, m.path)))
				l.Until(fmt.Sprintf(`document.querySelector(".side .lines .text")?.textContent.trim() === %q`, strings.TrimSpace(m.content)))
			}
		}
		l.Shots("sight-" + c.name)
	}
}
