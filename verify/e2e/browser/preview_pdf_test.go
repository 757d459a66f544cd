package browser

import (
	"bytes"
	"fmt"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// pdf is a document of one sheet of 400 by 400 points: what draws it, and, unless it is empty, a script that runs when it is opened,
// when its sheet is, and in a field of a form.
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

// shines waits until the window shows much of a colour.
func (l *looker) shines(red, green, blue uint32) {
	l.t.Helper()
	l.do(chromedp.Evaluate[chromedp.Void](`void document.querySelector("iframe.pdf").scrollIntoView({ block: "center" })`))
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		shown, err := png.Decode(bytes.NewReader(get(l.visitor, chromedp.CaptureScreenshot())))
		if err != nil {
			l.t.Fatal(err)
		}
		found := 0
		for y := shown.Bounds().Min.Y; y < shown.Bounds().Max.Y; y += 4 {
			for x := shown.Bounds().Min.X; x < shown.Bounds().Max.X; x += 4 {
				if r, g, b, _ := shown.At(x, y).RGBA(); r>>8 == red && g>>8 == green && b>>8 == blue {
					found++
				}
			}
		}
		if found > 1000 {
			return
		}
		if time.Now().After(deadline) {
			l.fail(fmt.Errorf("nothing of the colour %d, %d, %d is shown", red, green, blue))
		}
	}
}

// A PDF is drawn by the script of the pages, within a frame that has the rights of nobody. What draws it is fetched when there is one.
func TestPreviewOfPDF(t *testing.T) {
	t.Parallel()
	l := look(t)
	fetched := make(chan string, 1000)
	documents := make(chan *network.Response, 100)
	if err := chromedp.Listen(l.ctx, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			fetched <- e.Request.URL
		case *network.EventResponseReceived:
			if strings.Contains(e.Response.URL, "/assets/pdf-") {
				documents <- e.Response
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	l.file("a.txt", "text")
	l.shows("text", ".lines")
	for len(fetched) > 0 {
		if address := <-fetched; strings.Contains(address, "/assets/pdf-") || strings.Contains(address, "/assets/worker-") {
			t.Errorf("without a PDF the page fetches %s", address)
		}
	}
	l.file("acceptance-D2.pdf", sample(t, "acceptance-D2.pdf"))
	l.shows("pdf", `iframe.pdf:not([data-pages="0"])`)
	l.shots("pdf")
	l.sees("page", "Scripts, forms and links of the document do nothing here.")
	if answer := <-documents; answer.Status != 200 || !strings.Contains(fmt.Sprint(answer.Headers["Content-Security-Policy"]), "sandbox allow-scripts; default-src 'none'") {
		t.Errorf("the document of the frame is %d, with %v", answer.Status, answer.Headers)
	}
	l.until(`document.querySelector("iframe.pdf").getAttribute("sandbox") === "allow-scripts"`)
	// The page cannot look into the frame, so neither can the frame look into the page.
	l.until(`(() => { try { return document.querySelector("iframe.pdf").contentDocument === null; } catch { return true; } })()`)
	click(l.visitor, xpath("button", "Larger"))
	l.until(`document.querySelector("[aria-pressed=true]") === null`)
	l.shots("pdf-larger")

	// Scans are packed in ways that browsers do not know: their decoders come when they are needed. This is one byte, 8 rows of white.
	l.file("scan.pdf", pdf("0 1 0 rg q 400 0 0 400 0 0 cm BI /W 8 /H 8 /IM true /D [1 0] /F /CCF "+
		"/DP << /K -1 /Columns 8 /Rows 8 /EndOfBlock false >> ID \xff EI Q", ""))
	l.shows("pdf", `iframe.pdf[data-pages="1"]`)
	l.shines(0, 255, 0)

	l.file("b.pdf", "%PDF-1.4\nnothing that could be read")
	l.sees("This document cannot be read as PDF.", "Open it in a tab of its own")
}

// Where the script of the frame does not run, the way to the browser's own viewer is what remains.
func TestPDFWithoutFrame(t *testing.T) {
	t.Parallel()
	l := look(t)
	r := l.put("a.pdf", pdf("1 0 0 rg 0 0 400 400 re f", ""))
	l.at("/sets/" + l.set)
	l.lists("a.pdf")
	// A browser that runs no script there: the frame gets no right to.
	l.do(chromedp.Evaluate[chromedp.Void](`{
		const set = Element.prototype.setAttribute;
		Element.prototype.setAttribute = function (name, value) { set.call(this, name, name === "sandbox" ? "" : value); };
		const sandbox = Object.getOwnPropertyDescriptor(HTMLIFrameElement.prototype, "sandbox");
		void Object.defineProperty(HTMLIFrameElement.prototype, "sandbox", { ...sandbox, set() { set.call(this, "sandbox", ""); } });
	}`))
	l.expect("allow-scripts")
	l.follow("a.pdf")
	l.sees("This browser shows no PDF here.", "Open it in a tab of its own")
	l.until(`document.querySelector(".preview-foot a").href.endsWith("/v1/resources/` + r.ID + `/data?disposition=inline")`)
}

// A script within a PDF does not run: no dialog, no request, no change of a field.
func TestScriptInPDFDoesNotRun(t *testing.T) {
	t.Parallel()
	l := look(t)
	dialogs := make(chan string, 10)
	if err := chromedp.Listen(l.ctx, func(event any) {
		if e, ok := event.(*page.EventJavascriptDialogOpening); ok {
			dialogs <- e.Message
		}
	}); err != nil {
		t.Fatal(err)
	}
	// A script that runs would paint its field all blue, over the red sheet, and ask for a way out (which the visitor watches).
	script := `var f = this.getField("out"); f.rect = [0, 400, 400, 0]; f.fillColor = ["RGB", 0, 0, 1]; f.value = "it ran";
		app.launchURL("http://198.51.100.1/", false); this.submitForm("http://198.51.100.1/"); app.alert("it ran");`
	l.file("hostile.pdf", pdf("1 0 0 rg 0 0 400 400 re f 0 g BT /F 24 Tf 40 300 Td (Some words) Tj ET", script))
	l.shows("pdf", `iframe.pdf[data-pages="1"]`)
	l.shines(255, 0, 0)
	select {
	case message := <-dialogs:
		t.Errorf("a script ran: %s", message)
	default:
	}
	l.until(`location.pathname.startsWith("/resources/") && document.querySelector(".preview iframe").src.includes("/assets/pdf-")`)
}
