package viewers

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
	"labshelf/verify/e2e/browser"
)

// shown is an expression that is true if a page shows a rendered viewer or a fallback.
const shown = `document.querySelector("[data-sight] :is(.picture canvas, .stage canvas[data-drawn], .sheet-table td, .uplot, .member, .grid [role=cell]), [data-preview] :is(.grid [role=cell], .hex, img, .lines .text), [data-sight] .letters .row, .preview .hex")`

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// largeFile is a file whose values after the head are 0.
type largeFile struct {
	name, head, decoder string
	size                int64
	most                int64 // maximum bytes read for its first view
}

func largeFiles(size int64) []largeFile {
	array := fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%d, 1024, 1024)}", size>>20)
	array += strings.Repeat(" ", 117-len(array)) + "\n"
	cube := []string{
		"SIMPLE  =                    T", "BITPIX  =                    8", "NAXIS   =                    3", "NAXIS1  =                 1024",
		"NAXIS2  =                 1024", fmt.Sprintf("NAXIS3  = %20d", size>>20),
	}
	// Each strip has one row of pixels, so a downsampled picture needs only some of the strips.
	const width = 24576
	rows := size / width
	at := uint32(8 + 2 + 8*12 + 4)
	tiff := binary.LittleEndian.AppendUint32([]byte("II*\x00"), 8)
	tiff = binary.LittleEndian.AppendUint16(tiff, 8)
	for _, e := range [][3]uint32{{256, 1, width}, {257, 1, uint32(rows)}, {258, 1, 8}, {259, 1, 1}, {262, 1, 1}, {273, uint32(rows), at}, {278, 1, 1}, {279, uint32(rows), at + 4*uint32(rows)}} {
		tiff = binary.LittleEndian.AppendUint16(tiff, uint16(e[0]))
		tiff = binary.LittleEndian.AppendUint16(tiff, 4)
		tiff = binary.LittleEndian.AppendUint32(tiff, e[1])
		tiff = binary.LittleEndian.AppendUint32(tiff, e[2])
	}
	tiff = binary.LittleEndian.AppendUint32(tiff, 0)
	for row := range rows {
		tiff = binary.LittleEndian.AppendUint32(tiff, at+8*uint32(rows)+uint32(row)*width)
	}
	for range rows {
		tiff = binary.LittleEndian.AppendUint32(tiff, width)
	}
	all := []largeFile{
		{"stack.npy", npyHead(array), "npy", size, 2 << 20},
		{"cube.fits", fitsOf(cube...)[:2880], "fits", size, 2 << 20},
		{"camera.tif", string(tiff), "tiff", size, size / 5},
	}
	for i, f := range all {
		all[i].size += int64(len(f.head))
	}
	return all
}

func npyHead(header string) string {
	return "\x93NUMPY\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(header)))) + header
}

// A view of a file reads only the part that it shows. SIGHT_FILES names additional local files. For
// each, the test logs the first view, the number of bytes read for it, and the time in ms.
func TestSightReadsParts(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	for _, f := range largeFiles(int64(browser.Size(t, "SIGHT_MIB", 96)) << 20) {
		body := io.MultiReader(strings.NewReader(f.head), zeros{})
		read, _ := l.opens(f.name, io.LimitReader(body, f.size), f.size)
		l.sights(f.decoder)
		if read > f.most {
			t.Errorf("%s: read %d of %d bytes; want at most %d", f.name, read, f.size, f.most)
		}
	}
	for _, path := range filepath.SplitList(os.Getenv("SIGHT_FILES")) {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := file.Close(); err != nil {
				t.Error(err)
			}
		})
		about, err := file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		l.opens(filepath.Base(path), file, about.Size())
		l.Shots("own-" + filepath.Base(path))
	}
}

// opens uploads a file, opens its page, and returns the number of bytes read and the time in ms
// until it is shown.
func (l *viewer) opens(name string, body io.Reader, size int64) (bytes int64, ms int) {
	l.T.Helper()
	r, err := l.site.Upload(l.T.Context(), http.MethodPost, "/resources", e2e.File{SetID: l.set, Filename: name, Body: body, Size: size})
	if err != nil {
		l.T.Fatal(err)
	}
	l.At("/sets/" + l.set)
	l.Until(`[...document.querySelectorAll(".list a")].some((a) => a.pathname.endsWith("` + r.ID + `"))`)
	l.fetched()
	ms = browser.Get(l.Visitor, chromedp.Evaluate[int](`(async () => {
		const began = performance.now();
		[...document.querySelectorAll(".list a")].find((a) => a.pathname.endsWith("`+r.ID+`")).click();
		while (!`+shown+`) await new Promise(requestAnimationFrame);
		return Math.round(performance.now() - began);
	})()`, chromedp.EvalAwaitPromise))
	l.idle()
	bytes, _ = l.fetched()
	what := browser.Get(l.Visitor, chromedp.Evaluate[string](`(document.querySelector("[data-sight]")?.dataset.sight ?? document.querySelector("[data-preview]")?.dataset.preview ?? "") + " " + (document.querySelector(".why, .preview .hint")?.textContent ?? "")`))
	l.T.Logf("%s: %d of %d bytes, %d ms: %s", name, bytes, size, ms, what)
	return bytes, ms
}
