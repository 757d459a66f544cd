package browser

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/chromedp/chromedp"
)

// Shots takes screenshots with three window widths. The last one is the default width.
func (v *Visitor) Shots(name string) {
	v.T.Helper()
	if os.Getenv("SHOTS") == "" {
		return
	}
	for _, width := range []int64{360, 2560, 1280} {
		v.Size(width, 800)
		v.Do(chromedp.Evaluate[chromedp.Void](`void (location.hash && document.querySelector(location.hash)?.scrollIntoView())`))
		v.Rendered()
		v.Shot(fmt.Sprintf("%s-%d", name, width))
	}
}

// Shot takes screenshots of the window in both themes, into the folder SHOTS if that is set.
func (v *Visitor) Shot(name string) {
	v.T.Helper()
	folder := os.Getenv("SHOTS")
	if folder == "" {
		return
	}
	before := Get(v, chromedp.Evaluate[string](`document.documentElement.dataset.theme ?? ""`))
	for _, theme := range []string{"dark", "light"} {
		v.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void (document.documentElement.dataset.theme = %q)`, theme)))
		picture, err := Run(v, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name+"-"+theme+".png"), picture, 0o600)
		}
		if err != nil {
			v.T.Error(err)
		}
	}
	v.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void ((set) => %[1]q ? set.theme = %[1]q : delete set.theme)(document.documentElement.dataset)`, before)))
}
