package viewers

import (
	"bytes"
	"fmt"
	"image/png"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// pdf returns a document with one page of 400 by 400 points and this content. Unless script is
// empty, it is attached to the opening of the document, to the page, and to a form field.
func pdf(content, script string) string {
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R %s >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 400] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> %s >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	}
	onOpen, onPage := "", ""
	if script != "" {
		action := fmt.Sprintf("<< /S /JavaScript /JS (%s) >>", strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(script))
		onOpen = fmt.Sprintf("/OpenAction %[1]s /Names << /JavaScript << /Names [(a) %[1]s] >> >> /AcroForm << /Fields [6 0 R] /DA (/F 12 Tf 0 g) /DR << /Font << /F 5 0 R >> >> >>", action)
		onPage = fmt.Sprintf("/AA << /O %s >> /Annots [6 0 R]", action)
		objects = append(objects, fmt.Sprintf("<< /Type /Annot /Subtype /Widget /FT /Tx /T (out) /Rect [10 10 200 40] /DA (/F 12 Tf 0 g) /P 3 0 R /AA << /C %[1]s /F %[1]s >> >>", action))
	}
	objects[0], objects[2] = fmt.Sprintf(objects[0], onOpen), fmt.Sprintf(objects[2], onPage)
	var file strings.Builder
	file.WriteString("%PDF-1.7\n")
	var at []int
	for i, object := range objects {
		at = append(at, file.Len())
		fmt.Fprintf(&file, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	table := file.Len()
	fmt.Fprintf(&file, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range at {
		fmt.Fprintf(&file, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&file, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, table)
	return file.String()
}

// showsColour waits until many pixels of the window have this colour.
func (l *viewer) showsColour(red, green, blue uint32) {
	l.T.Helper()
	l.Do(chromedp.Evaluate[chromedp.Void](`void document.querySelector("iframe.pdf").scrollIntoView({ block: "center" })`))
	l.WaitFor(func() error {
		window, err := png.Decode(bytes.NewReader(browser.Get(l.Visitor, chromedp.CaptureScreenshot())))
		if err != nil {
			return err
		}
		found := 0
		for y := window.Bounds().Min.Y; y < window.Bounds().Max.Y; y += 4 {
			for x := window.Bounds().Min.X; x < window.Bounds().Max.X; x += 4 {
				if r, g, b, _ := window.At(x, y).RGBA(); r>>8 == red && g>>8 == green && b>>8 == blue {
					found++
				}
			}
		}
		if found <= 1000 {
			return fmt.Errorf("%d of the sampled pixels have the colour %d, %d, %d", found, red, green, blue)
		}
		return nil
	})
}

// A PDF is rendered in a frame without an origin. The scripts for it are loaded only for a PDF.
func TestPreviewOfPDF(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	fetched := make(chan string, 1000)
	documents := make(chan *network.Response, 100)
	l.Listen(func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			fetched <- e.Request.URL
		case *network.EventResponseReceived:
			if strings.Contains(e.Response.URL, "/assets/pdf-") {
				documents <- e.Response
			}
		}
	})
	l.file("a.txt", "text")
	l.shows("text", ".lines")
	for len(fetched) > 0 {
		if address := <-fetched; strings.Contains(address, "/assets/pdf-") || strings.Contains(address, "/assets/worker-") {
			t.Errorf("without a PDF, the page requests %s", address)
		}
	}
	l.file("acceptance-D2.pdf", sample(t, "acceptance-D2.pdf"))
	l.shows("pdf", `iframe.pdf:not([data-pages="0"])`)
	l.Shots("pdf")
	l.Sees("page", "Scripts, forms and links of the document are disabled.")
	if answer := <-documents; answer.Status != 200 || !strings.Contains(fmt.Sprint(answer.Headers["Content-Security-Policy"]), "sandbox allow-scripts; default-src 'none'") {
		t.Errorf("the document of the frame has the status %d and the headers %v", answer.Status, answer.Headers)
	}
	l.Until(`document.querySelector("iframe.pdf").getAttribute("sandbox") === "allow-scripts"`)
	// The page and the frame have different origins, so that neither can read the other.
	l.Until(`(() => { try { return document.querySelector("iframe.pdf").contentDocument === null; } catch { return true; } })()`)
	browser.Click(l.Visitor, browser.Xpath("button", "Larger"))
	l.Until(`document.querySelector("[aria-pressed=true]") === null`)
	l.Shots("pdf-larger")

	// Decoders for formats that browsers do not support are loaded on demand. This CCITT image
	// consists of one byte: 8 white rows.
	l.file("scan.pdf", pdf("0 1 0 rg q 400 0 0 400 0 0 cm BI /W 8 /H 8 /IM true /D [1 0] /F /CCF "+
		"/DP << /K -1 /Columns 8 /Rows 8 /EndOfBlock false >> ID \xff EI Q", ""))
	l.shows("pdf", `iframe.pdf[data-pages="1"]`)
	l.showsColour(0, 255, 0)

	l.file("b.pdf", "%PDF-1.4\nnothing that could be read")
	l.Sees("This document cannot be read as PDF.", "Open in a new tab")
}

// If the script of the frame cannot run, the page links to the viewer of the browser.
func TestPDFWithoutFrame(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	r := l.put("a.pdf", pdf("1 0 0 rg 0 0 400 400 re f", ""))
	l.At("/sets/" + l.set)
	l.Lists("a.pdf")
	// Without "allow-scripts" the frame behaves as in a browser that blocks its script.
	l.Do(chromedp.Evaluate[chromedp.Void](`{
		const set = Element.prototype.setAttribute;
		Element.prototype.setAttribute = function (name, value) { set.call(this, name, name === "sandbox" ? "" : value); };
		const sandbox = Object.getOwnPropertyDescriptor(HTMLIFrameElement.prototype, "sandbox");
		void Object.defineProperty(HTMLIFrameElement.prototype, "sandbox", { ...sandbox, set() { set.call(this, "sandbox", ""); } });
	}`))
	l.Expect("allow-scripts")
	l.Follow("a.pdf")
	l.Sees("This browser cannot show the PDF here.", "Open in a new tab")
	l.Until(`document.querySelector(".preview-foot a").href.endsWith("/v1/resources/` + r.ID + `/data?disposition=inline")`)
}

// A script in a PDF does not run: it opens no dialog, sends no request and changes no field.
func TestScriptInPDFDoesNotRun(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	dialogs := l.AnswerDialogs(false)
	// If it ran, the script would cover the red page with its blue field, and send requests to
	// another origin, which would be complaints.
	script := `var f = this.getField("out"); f.rect = [0, 400, 400, 0]; f.fillColor = ["RGB", 0, 0, 1]; f.value = "it ran";
		app.launchURL("http://198.51.100.1/", false); this.submitForm("http://198.51.100.1/"); app.alert("it ran");`
	l.file("hostile.pdf", pdf("1 0 0 rg 0 0 400 400 re f 0 g BT /F 24 Tf 40 300 Td (Some words) Tj ET", script))
	l.shows("pdf", `iframe.pdf[data-pages="1"]`)
	l.showsColour(255, 0, 0)
	select {
	case dialog := <-dialogs:
		t.Errorf("a script ran: %s", dialog.Message)
	default:
	}
	l.Until(`location.pathname.startsWith("/resources/") && document.querySelector(".preview iframe").src.includes("/assets/pdf-")`)
}
