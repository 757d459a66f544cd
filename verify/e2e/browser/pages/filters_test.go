package pages

import (
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// The service sorts and filters. The order and the filters are stored in the address.
func TestOrdersAndFilters(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	_, sid := s.NewSet(t)
	ids := s.Put(t, sid, "b.txt", "a.txt", "c/1.txt", "c/2.txt", "gone.txt")
	s.Do(t, "DELETE", "/resources/"+ids[4], nil)
	v := s.SignedIn(t, s.Key(), "/sets/"+sid)
	v.Lists("c", "a.txt", "b.txt")
	v.Choose("Order", "newest")
	v.Lists("c/2.txt", "c/1.txt", "a.txt", "b.txt")
	v.IsAt("/sets/" + sid + "?order=newest")
	v.Choose("Order", "oldest")
	v.Lists("b.txt", "a.txt", "c/1.txt", "c/2.txt")
	v.At("/sets/" + sid + "?order=newest&since=2020-01-01&until=2021-01-01")
	v.Sees("No matches")
	v.At("/sets/" + sid + "?order=oldest&since=2020-01-01")
	v.Lists("b.txt", "a.txt", "c/1.txt", "c/2.txt")
	v.Choose("Order", "name")
	v.IsAt("/sets/" + sid)
	v.Choose("Show", "deleted")
	v.Lists("gone.txt")
	v.Choose("Show", "all")
	v.Lists("c", "a.txt", "b.txt", "gone.txt")
	v.Do(chromedp.SendKeys(chromedp.CSS("main input[type=search]"), "c/"))
	v.Lists("c/1.txt", "c/2.txt")
	v.IsAt("/sets/" + sid + "?state=all&prefix=c%2F")
}
