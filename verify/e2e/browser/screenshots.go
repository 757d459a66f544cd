package browser

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/chromedp/chromedp"
)

// shots takes pictures on screens of three widths, and ends with the default one.
func (v *visitor) shots(name string) {
	v.t.Helper()
	if os.Getenv("SHOTS") == "" {
		return
	}
	for _, width := range []int64{360, 2560, 1280} {
		v.size(width, 800)
		v.do(chromedp.Evaluate[chromedp.Void](`void (location.hash && document.querySelector(location.hash)?.scrollIntoView())`))
		v.rendered()
		v.shot(fmt.Sprintf("%s-%d", name, width))
	}
}

// shot takes pictures of the window in both themes, into the folder SHOTS if that is set.
func (v *visitor) shot(name string) {
	v.t.Helper()
	folder := os.Getenv("SHOTS")
	if folder == "" {
		return
	}
	before := get(v, chromedp.Evaluate[string](`document.documentElement.dataset.theme ?? ""`))
	for _, theme := range []string{"dark", "light"} {
		v.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void (document.documentElement.dataset.theme = %q)`, theme)))
		picture, err := run(v, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name+"-"+theme+".png"), picture, 0o600)
		}
		if err != nil {
			v.t.Error(err)
		}
	}
	v.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void ((set) => %[1]q ? set.theme = %[1]q : delete set.theme)(document.documentElement.dataset)`, before)))
}
