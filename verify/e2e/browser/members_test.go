package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// The button that removes access is whole, on a wide screen and on a narrow one.
func TestRemoveAccessIsWhole(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.place(t)
	s.person(t, "mary", "member", did)
	v := s.visit(t)
	v.at("/dataspaces/" + did + "/members")
	v.signIn(s.Key())
	for _, width := range []int64{1280, 360} {
		v.do(chromedp.EmulateViewport(width, 800))
		v.until(`document.querySelectorAll(".list .body .end .button").length >= 1`)
		v.until(`[...document.querySelectorAll(".list .body .end")].every((e) => [...e.children].every((b) =>
			b.getBoundingClientRect().right <= e.getBoundingClientRect().right + 1 && b.scrollWidth <= b.clientWidth + 1))`)
	}
}
