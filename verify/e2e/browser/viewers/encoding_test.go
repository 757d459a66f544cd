package viewers

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// encodedText is a text as encoded by Python.
type encodedText struct{ Codec, Name, Text, Content string }

// encodedTexts returns the texts of testdata/encodings with their bytes.
func encodedTexts(t *testing.T) (all []encodedText) {
	t.Helper()
	if err := json.Unmarshal([]byte(browser.TestFile(t, "encodings", "expected.json")), &all); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		content, err := base64.StdEncoding.DecodeString(all[i].Content)
		if err != nil {
			t.Fatal(err)
		}
		all[i].Content = string(content)
	}
	return all
}

// showsText waits until the page shows this text and this label of the selected encoding.
func (l *viewer) showsText(text, choice string) {
	l.T.Helper()
	l.Until(fmt.Sprintf(`document.querySelector(".preview .lines .text")?.textContent === %q && document.querySelector(".encoding select").selectedOptions[0].textContent === %q`, text, choice))
}

// chooseEncoding selects an encoding by its value. The control is rendered again, and keeps the
// focus.
func (l *viewer) chooseEncoding(label string) {
	l.T.Helper()
	l.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void ((select) => {
		select.value = %q;
		select.dispatchEvent(new Event("change", { bubbles: true }));
	})(document.querySelector(".encoding select"))`, label)))
	l.Until(fmt.Sprintf(`document.activeElement.value === %q && document.activeElement.closest(".encoding")`, label))
}

// A text is shown in the encoding of its bytes, which the page names. The reader can select another
// encoding, which is stored in the address.
func TestTextEncodings(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	for i, c := range encodedTexts(t) {
		t.Log(c.Codec, c.Name)
		l.file(fmt.Sprintf("%d.txt", i), c.Content)
		l.showsText(c.Text, "detected: "+c.Name)
		if c.Codec == "euc_kr" {
			l.Shots("encoding")
		}
	}
	// The encoding that a document declares is used only if its bytes are valid in it and are not
	// UTF-8.
	const head = "<!doctype html><meta charset=shift_jis><title>x</title>\n"
	l.file("utf8.html", head+"測定日\n")
	l.showsText(head+"測定日\n", "detected: UTF-8")
	l.file("named.html", head+"\xb1\xb2\n")
	l.showsText(head+"ｱｲ\n", "detected: Shift-JIS")
	const cyrillic = "\xc1\xc2\xd7 10 mm\n" // "абв" in KOI8-R, "БВЧ" in Windows-1251
	l.file("short.txt", cyrillic)
	l.Until(`document.querySelector(".encoding select")`)
	l.chooseEncoding("koi8-r")
	l.showsText("абв 10 mm\n", "KOI8-R (Russian)")
	l.Until(`location.search.includes("encoding=koi8-r")`)
	l.chooseEncoding("windows-1251")
	l.showsText("БВЧ 10 mm\n", "Windows-1251 (Cyrillic)")
}

// Tables and documents are read in the detected or the selected encoding.
func TestTableEncodings(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	// Two columns, "温度" and "電圧", in Shift-JIS, and in GB18030 "温度" and "电压".
	const japanese, chinese = "\x89\xb7\x93x,\x93d\x88\xb3\n1,2\n3,4\n", "\xce\xc2\xb6\xc8,\xb5\xe7\xd1\xb9\n1,2\n3,4\n"
	for _, c := range []struct {
		name, content, encoding string
		names                   []string
	}{
		{"a.csv", japanese, "Shift-JIS", []string{"温度", "電圧"}},
		{"b.csv", chinese, "GB18030", []string{"温度", "电压"}},
	} {
		l.file(c.name, c.content)
		l.shows("table", ".cells [role=cell]")
		if got := l.cells(0); !slices.Equal(got, c.names) {
			t.Errorf("%s: the columns are %q, want %q", c.name, got, c.names)
		}
		l.Sees("2 columns · " + c.encoding)
	}
	r := l.put("c.csv", chinese)
	l.At("/resources/" + r.ID + "?encoding=windows-1251")
	l.shows("table", ".cells [role=cell]")
	l.WaitFor(func() error {
		if got := l.cells(0); !slices.Equal(got, []string{"ОВ¶И", "µзС№"}) {
			return fmt.Errorf("the columns are %q", got)
		}
		return nil
	})
	l.At("/resources/" + r.ID + "?view=plot")
	l.Until(`document.querySelector(".chart")?.getAttribute("aria-label") === "电压 by 温度"`)
	l.file("notes.md", "# \xb2\xe2\xca\xd4\xb1\xa8\xb8\xe6\n\n\xce\xc2\xb6\xc8\xca\xc7\xca\xd2\xce\xc2\n") // 测试报告, 温度是室温
	l.Until(`document.querySelector(".markdown")?.textContent.includes("测试报告") && document.querySelector(".encoding select").selectedOptions[0].textContent === "detected: GB18030"`)
}

// Bytes of separators within characters of Shift-JIS are not treated as separators, even when a
// large table is downsampled as a whole.
func TestPlotOfLargeShiftJIS(t *testing.T) {
	t.Parallel()
	const rows = 110_000
	var b strings.Builder
	b.WriteString("t|\x83\x7c|\x93d\x88\xb3\n") // t, ポ and 電圧: the second byte of ポ is a bar
	for i := range rows {
		fmt.Fprintf(&b, "%d|%s|%d\n", i, strings.Repeat("\x83\x7c", 300), i%7)
	}
	l := openViewer(t)
	r := l.put("long.csv", b.String())
	l.At("/resources/" + r.ID + "?view=plot&whole=1&separator=bar")
	l.Sees(fmt.Sprintf("The %s rows in view are drawn as the minimum and maximum of 2,000 bins", thousands(rows)))
	l.Until(`!document.querySelector(".plot progress")`)
	l.Until(`((r) => r && [...r.querySelectorAll("data")].map((d) => Number(d.value).toFixed(2)).join(" ") === "0.00 3.00 6.00")(document.querySelector(".values tbody tr"))`)
}

// An SVG drawing is shown as an image. It runs no script and loads nothing, and its source is one
// click away.
func TestDrawings(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	drawing := `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="120" height="80" onload="top.__hacked=1">
<style>rect { fill: rgb(200, 30, 40) }</style><script>top.__hacked=1</script><image xlink:href="http://198.51.100.1/a.png" width="9" height="9"/><rect width="120" height="80"/></svg>`
	l.file("plan.svg", drawing)
	l.Until(`((image) => image?.complete && image.naturalWidth === 120 && image.src.startsWith("blob:"))(document.querySelector(".picture img"))`)
	l.Sees("120 × 80 pixels")
	if colour := browser.Get(l.Visitor, chromedp.Evaluate[string](`(() => {
		const canvas = new OffscreenCanvas(120, 80), context = canvas.getContext("2d");
		context.drawImage(document.querySelector(".picture img"), 0, 0);
		return [...context.getImageData(60, 40, 1, 1).data].join();
	})()`)); colour != "200,30,40,255" {
		t.Errorf("the drawing has the colour %s", colour)
	}
	l.Shots("drawing")
	l.Press("Source")
	l.Until(fmt.Sprintf(`document.querySelector(".lines .text")?.textContent === %q`, drawing))
	if browser.Get(l.Visitor, chromedp.Evaluate[bool](`"__hacked" in window`)) {
		t.Error("a script of the drawing ran")
	}
	l.file("broken.svg", "<svg><rect")
	l.Sees("This browser cannot show this image.")
	l.Until(`document.querySelector(".lines .text")?.textContent === "<svg><rect"`)
}

// If a viewer fails, the page names the format of the bytes, and the reader can switch between
// bytes and text.
func TestFailingViewers(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	dicom := func(preamble string) string {
		return preamble + strings.Repeat("\x00", 128-len(preamble)) + "DICM\x02\x00\x00\x00UL\x04\x00\xbe\x00\x00\x00" + strings.Repeat("\x00\x01", 800)
	}
	image := sightFile(t, "uint16_1_4660.tif")
	for _, c := range []struct{ name, content, says, never string }{
		{"MR_small.dcm", dicom("II*\x00\xe8\x05\x08\x00"), "by its first bytes this is a DICOM file", "a TIFF image"},
		{"big.dcm", dicom("MM\x00*\x00\x00\x00\x08"), "by its first bytes this is a DICOM file", "a TIFF image"},
		{"plain.dcm", dicom(""), "by its first bytes this is a DICOM file", "a TIFF image"},
		{"cut.tif", image[:60], "begins like a TIFF image, but it cannot be shown as such", "DICOM"},
		{"scan.png", image, "greys", "a PNG image"},
	} {
		t.Log(c.name)
		l.file(c.name, c.content)
		l.Until(`document.querySelector("[data-preview] :is(.hex, .lines .text, .picture canvas)")`)
		l.Sees(c.says)
		l.SeesNot(c.never)
		if browser.Get(l.Visitor, chromedp.Evaluate[bool](`document.querySelector(".preview .hex") !== null`)) {
			l.Press("Text")
			l.Until(`document.querySelector(".preview .lines:not(.hex) .text")`)
			l.Press("Bytes")
			l.Until(`document.querySelector(".preview .hex")`)
		}
		l.Shots("fails-" + c.name)
	}
}
