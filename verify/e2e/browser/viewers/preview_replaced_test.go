package viewers

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
	"labshelf/verify/e2e/browser"
)

// picture returns a PNG of this size.
func picture(t *testing.T, width, height int) string {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

// silence returns a WAV file of the given number of seconds.
func silence(t *testing.T, seconds int) string {
	t.Helper()
	const rate = 8000
	size := uint32(rate * seconds)
	head := []any{[]byte("RIFF"), 36 + size, []byte("WAVEfmt "), uint32(16), uint16(1), uint16(1), uint32(rate), uint32(rate), uint16(1), uint16(8), []byte("data"), size}
	var file bytes.Buffer
	for _, part := range append(head, bytes.Repeat([]byte{128}, int(size))) {
		if err := binary.Write(&file, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return file.String()
}

// overwrite replaces the file of a resource over the HTTP API.
func (l *viewer) overwrite(r e2e.Resource, content string) {
	l.T.Helper()
	_, err := l.site.Upload(l.T.Context(), http.MethodPut, "/resources/"+r.ID,
		e2e.File{Filename: r.Name, Body: strings.NewReader(content), Size: int64(len(content))})
	if err != nil {
		l.T.Fatal(err)
	}
}

// loads returns an expression for a promise of whether an image can be loaded from an address.
func loads(address string) string {
	return fmt.Sprintf(`new Promise((done) => {
		const image = new Image();
		image.onload = () => done(true);
		image.onerror = () => done(false);
		image.src = %q;
	})`, address)
}

// noise returns a PNG of about 250 kB that is 500 pixels wide.
func noise(t *testing.T) []byte {
	t.Helper()
	pixels := image.NewGray(image.Rect(0, 0, 500, 500))
	_, _ = rand.NewChaCha8([32]byte{2}).Read(pixels.Pix)
	var file bytes.Buffer
	if err := png.Encode(&file, pixels); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// After a replacement, by this page or by another client, the preview shows the new file, and never
// an old one from the browser's cache.
func TestPreviewOfReplacedFile(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.Expect("net::ERR_FILE_NOT_FOUND", "status of 410") // a revoked object URL, and a request for a file just deleted
	wide := func(pixels int) string {
		return fmt.Sprintf(`document.querySelector("[data-preview] img")?.naturalWidth === %d`, pixels)
	}
	lasts := func(seconds int) string {
		return fmt.Sprintf(`Math.round(document.querySelector("[data-preview] audio")?.duration) === %d`, seconds)
	}
	for _, c := range []struct{ name, before, after, isBefore, isAfter string }{
		{"a.png", picture(t, 30, 20), picture(t, 50, 40), wide(30), wide(50)},
		{"a.wav", silence(t, 1), silence(t, 3), lasts(1), lasts(3)},
		{"a.txt", "the old text", "the new text", browser.Visible("the old text"), browser.Visible("the new text")},
	} {
		t.Log(c.name)
		r := l.file(c.name, c.before)
		l.Until(c.isBefore)
		path := browser.FileWith(t, c.name, c.after)
		l.Replace(path)
		l.Until(fmt.Sprintf(`document.body.textContent.includes("%x")`, sha256.Sum256([]byte(c.after))))
		l.Until(c.isAfter)
		l.Shot("replaced-" + c.name)
		old := browser.Get(l.Visitor, chromedp.Evaluate[string](`document.querySelector("[data-preview] img")?.src ?? ""`))
		l.Follow("runs")
		l.Sees("1 file")
		l.overwrite(r, c.before)
		l.Follow(c.name)
		l.Until(c.isBefore)
		if strings.HasPrefix(old, "blob:") && browser.Get(l.Visitor, chromedp.Evaluate[bool](loads(old), chromedp.EvalAwaitPromise)) {
			t.Error("the object URL of the last picture is still valid")
		}
		l.site.Do(t, http.MethodDelete, "/resources/"+r.ID, nil)
	}
}

// The preview of a replaced PDF shows the new file.
func TestPreviewOfReplacedPDF(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.file("a.pdf", pdf("1 0 0 rg 0 0 400 400 re f", ""))
	l.shows("pdf", `iframe.pdf[data-pages="1"]`)
	l.showsColour(255, 0, 0)
	content := pdf("0 0 1 rg 0 0 400 400 re f", "")
	path := browser.FileWith(t, "a.pdf", content)
	l.Replace(path)
	l.Until(fmt.Sprintf(`document.body.textContent.includes("%x")`, sha256.Sum256([]byte(content))))
	l.shows("pdf", `iframe.pdf[data-pages="1"]`)
	l.showsColour(0, 0, 255)
}

// An unchanged image is transferred once for the page and for the thumbnail in the list.
func TestImageIsSentOnce(t *testing.T) {
	t.Parallel()
	l := openViewer(t)
	l.file("a.png", string(noise(t)))
	wide := `document.querySelector("[data-preview] img")?.naturalWidth === 500`
	l.Until(wide)
	l.Follow("runs")
	l.Until(`document.querySelector(".thumbnail")?.naturalWidth === 500`)
	l.Follow("a.png")
	l.Until(wide)
	sent := browser.Get(l.Visitor, chromedp.Evaluate[[]int](`performance.getEntriesByType("resource").filter((e) => /\/data\b/.test(e.name)).map((e) => e.transferSize)`))
	if len(sent) != 3 || sent[0] < 240_000 || sent[1] > 2000 || sent[2] > 2000 {
		t.Errorf("opening the image three times transferred %v bytes", sent)
	}
}
