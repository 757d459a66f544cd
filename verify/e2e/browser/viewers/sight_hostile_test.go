package viewers

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// zipOf returns a ZIP archive of files.
func zipOf(t *testing.T, files ...member) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		entry, err := w.Create(f.path)
		if err == nil {
			_, err = io.WriteString(entry, f.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// bomb returns a ZIP archive with an entry that declares 1000 bytes, but unpacks to a GiB.
func bomb(t *testing.T) string {
	t.Helper()
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	zeros := make([]byte, 1<<20)
	for range 1024 {
		if err == nil {
			_, err = w.Write(zeros)
		}
	}
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	if err == nil {
		err = w.Close()
	}
	raw, errRaw := archive.CreateRaw(&zip.FileHeader{Name: "a.txt", Method: zip.Deflate, CompressedSize64: uint64(packed.Len()), UncompressedSize64: 1000})
	if err := errors.Join(err, errRaw); err != nil {
		t.Fatal(err)
	}
	_, err = raw.Write(packed.Bytes())
	if err := errors.Join(err, archive.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// npy returns a NumPy array with this header, and some bytes.
func npy(header string) string {
	return "\x93NUMPY\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(header)))) + header + strings.Repeat("\x00", 64)
}

// fitsOf returns a FITS file with these cards, and some bytes.
func fitsOf(cards ...string) string {
	var b strings.Builder
	for _, card := range append(cards, "END") {
		fmt.Fprintf(&b, "%-80.80s", card)
	}
	return b.String() + strings.Repeat(" ", 2880-b.Len()%2880) + strings.Repeat("\x00", 2880)
}

// textPNG returns an image with 16 bits per sample, and with a text chunk whose name has no
// terminating zero.
func textPNG(t *testing.T) string {
	t.Helper()
	content := goFile(t, "image/png/testdata/pngsuite/basn0g16.png")
	chunk := "tEXtno zero"
	sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(chunk)))
	const header = 8 + 25
	return content[:header] + "\x00\x00\x00\x07" + chunk + string(sum) + content[header:]
}

// tiffOf returns a TIFF with one directory of integer values by their tags.
func tiffOf(entries ...[2]uint32) string {
	b := binary.LittleEndian.AppendUint32([]byte("II*\x00"), 8)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(entries)))
	for _, e := range entries {
		b = binary.LittleEndian.AppendUint16(b, uint16(e[0]))
		b = binary.LittleEndian.AppendUint16(b, 4)
		b = binary.LittleEndian.AppendUint32(b, 1)
		b = binary.LittleEndian.AppendUint32(b, e[1])
	}
	return string(b) + strings.Repeat("\x00", 64)
}

// A broken or hostile file shows an error. It runs no script, sends no request, and does not break
// the page.
func TestSightOfHostileFiles(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	all := strings.Join(browser.Payloads, " ")
	quoted := strings.NewReplacer(`'`, `\'`, "\n", " ").Replace(all)
	var named bytes.Buffer
	w := tar.NewWriter(&named)
	for i, name := range append(browser.Hostile, browser.Payloads...) {
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("%d%.80s", i, strings.ReplaceAll(name, "\n", "")), Size: 0, Mode: 0o600, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	members := packed(t, "first\n") + packed(t, "other\n") // of equal length
	type file struct{ name, content, says string }
	cases := []file{
		{"names.zip", zipOf(t, member{browser.Payloads[0] + ".html", all}, member{"../../" + browser.Payloads[1], all}, member{"a/" + browser.Hostile[4], all}), "3 files"},
		{"names.tar", named.String(), "files"},
		{"bomb.zip", bomb(t), "1 file"},
		{"names.npy", npy("{'descr': [('" + quoted + "', '<f8')], 'fortran_order': False, 'shape': (8,)}"), "float64, 8"},
		{"long.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 1000000)}"), "before this array does"},
		{"objects.npy", sightFile(t, "py3-objarr.npy"), "only Python can read"},
		{"wide.npy", npy("{'descr': '|S100000000', 'fortran_order': False, 'shape': (1,)}"), "too large to be shown"},
		{"text.png", textPNG(t), "16 bits"},
		{"cut.txt.gz", members[:len(members)-9], "Only the first part"},
		{"followed.txt.gz", members + "more", "Only the first part"},
		{"names.fits", fitsOf("SIMPLE  =                    T", "BITPIX  =                    8", "NAXIS   =                    0", "OBJECT  = '"+browser.Hostile[0]+"'", "COMMENT "+browser.Hostile[1]), "header only"},
		{"large.fits", fitsOf("SIMPLE  =                    T", "BITPIX  =                   16", "NAXIS   =                    2", "NAXIS1  =           1000000000", "NAXIS2  =           1000000000"), "before this array does"},
		{"large.tif", tiffOf([2]uint32{256, 1 << 30}, [2]uint32{257, 1 << 19}, [2]uint32{273, 8}, [2]uint32{279, 16}, [2]uint32{258, 8}), "Choose a part of it"},
		{"names.h5", sightFile(t, "made-names.h5"), "900 objects"},
		{"loop.tif", "II*\x00\x08\x00\x00\x00\x00\x00\x08\x00\x00\x00", "has no size"},
	}
	_, names := sightFiles(t)
	cut := map[string]bool{}
	for _, name := range names { // a truncated file of each format
		if cut[decoderOf(name)] && testing.Short() {
			continue
		}
		cut[decoderOf(name)] = true
		content := sightFile(t, name)
		cases = append(cases, file{"cut-" + name, content[:len(content)*2/5], "For programs"})
	}
	for _, c := range cases {
		t.Log(c.name)
		r := l.file(c.name, c.content)
		l.Until(`document.querySelector(".preview .hex, .preview [data-sight]")`)
		l.Sees(c.says, "For programs")
		l.Until(`document.querySelector(".preview :is(script, iframe, style, [onerror], [onload], [srcdoc], a[href^=javascript])") === null`)
		if browser.Get(l.Visitor, chromedp.Evaluate[bool](`"__hacked" in window`)) {
			t.Errorf("a script in %s ran", c.name)
		}
		if c.name == "names.h5" { // without the limit, its texts would have 9,000,000 characters
			l.At("/resources/" + r.ID + "?item=799")
			l.Sees("that follow are not shown")
		}
		if c.name == "bomb.zip" {
			l.Until(`document.querySelector(".side [role=alert]")?.textContent.includes("unpacks to more") || document.querySelector(".member button").click()`)
		}
	}
}

// Arrays in an .npz are files of an archive, and a PNG with 16 bits per sample keeps all bits. All
// viewers work with the keyboard, are accessible in both themes, and fit into a narrow window.
func TestSightIsAccessible(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	script := browser.Axe(t)
	deep := goFile(t, "image/png/testdata/pngsuite/basn0g16.png")
	if _, err := png.Decode(strings.NewReader(deep)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, content, decoder, ready string }{
		{"csc.npz", sightFile(t, "csc_py3.npz"), "zip", ".member"},
		{"unix.zip", goFile(t, "archive/zip/testdata/unix.zip"), "zip", ".member"},
		{"deep.png", deep, "png", ".picture canvas"},
		{"packed.nc", sightFile(t, "made-cf.nc"), "hdf5", ".picture canvas"},
		{"gdal.tif", sightFile(t, "made-gdal.tif"), "tiff", ".picture canvas"},
		{"arange.fits", sightFile(t, "arange.fits"), "fits", ".picture canvas"},
		{"struct.mat", sightFile(t, "teststruct_7.4_GLNX86.mat"), "mat", ".sheet-table td"},
		{"complex.h5", sightFile(t, "compound-dtype-complex.h5"), "hdf5", ".sheet-table td"},
		{"multipage.tif", sightFile(t, "multipage.tif"), "tiff", ".picture canvas"},
		{"impala.parquet", tableFile(t, "nullable.impala.parquet"), "parquet", ".sheet-table td"},
		{"nested.arrow", tableFile(t, "1.0.0-nested.arrow"), "arrow", ".sheet-table td"},
		{"protein.fa", sequenceFile(t, "protein_lib.fa"), "sequences", ".letters .six"},
		{"reads.fastq", sequenceFile(t, "longreads_original_sanger.fastq"), "sequences", ".letters .quality, .quality-charts canvas"},
		{"info.vcf", sequenceFile(t, "body_info.vcf"), "sequences", ".sheet-table td"},
	} {
		t.Log(c.name)
		l.file(c.name, c.content)
		l.sights(c.decoder)
		l.Until(fmt.Sprintf(`document.querySelector(%q)`, c.ready))
		if c.decoder == "zip" {
			// With the keyboard: move to the first file, and press Enter.
			l.Until(`(document.querySelector(".member button").focus(), document.activeElement.matches(".member button"))`)
			l.Key("Enter", "Enter", "\r")
			l.Until(`document.querySelector(".side [data-preview]")`)
			if c.name == "csc.npz" {
				l.Until(`document.querySelector(".side [data-sight=npy] h2")`)
			}
		}
		l.Theme("light")
		found := l.Audit(script)
		l.Theme("dark")
		found = append(found, l.Audit(script, "color-contrast")...)
		for _, f := range found {
			t.Errorf("%s: %s: %s: %s\n\t%s", c.name, f.Impact, f.ID, f.Help, f.Where)
		}
		l.Size(360, 740)
		if overflow := browser.Get(l.Visitor, chromedp.Evaluate[float64](`document.documentElement.scrollWidth - innerWidth`)); overflow > 0 {
			t.Errorf("%s is %v px too wide for a narrow window", c.name, overflow)
		}
		l.Size(1280, 800)
		l.Shots("axe-" + c.name)
	}
}

// A decoder has no origin and no network, and is loaded with the first file of its kind. If it
// takes too long, it is stopped, and the bytes are shown.
func TestSightOfSlowDecoder(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	workers := make(chan string, 1000)
	l.Listen(func(event any) {
		if e, is := event.(*network.EventRequestWillBeSent); is && strings.Contains(e.Request.URL, "/assets/decode-") {
			workers <- e.Request.URL
		}
	})
	l.file("a.txt", "text")
	l.shows("text", ".lines")
	if len(workers) > 0 {
		t.Errorf("a decoder was loaded for a text file: %s", <-workers)
	}
	l.shortTimeout()
	l.BeforeScripts(`window.Worker = class { postMessage() {} terminate() { window.__ended = true } }`) // a worker that never answers
	l.file("slow.npy", sightFile(t, "python3.npy"))
	l.Sees("was stopped after 20 s")
	l.Until(`document.querySelector(".hex") && window.__ended`)
}
