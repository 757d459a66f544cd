package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// The service sorts and filters; order and filters are stored in the address.
func TestOrdersAndFilters(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.makeSet(t)
	ids := s.put(t, sid, "b.txt", "a.txt", "c/1.txt", "c/2.txt", "gone.txt")
	s.call(t, "DELETE", "/resources/"+ids[4], nil)
	v := s.signedIn(t, s.Key(), "/sets/"+sid)
	v.lists("c", "a.txt", "b.txt")
	v.choose("Order", "newest")
	v.lists("c/2.txt", "c/1.txt", "a.txt", "b.txt")
	v.isAt("/sets/" + sid + "?order=newest")
	v.choose("Order", "oldest")
	v.lists("b.txt", "a.txt", "c/1.txt", "c/2.txt")
	v.at("/sets/" + sid + "?order=newest&since=2020-01-01&until=2021-01-01")
	v.sees("No matches")
	v.at("/sets/" + sid + "?order=oldest&since=2020-01-01")
	v.lists("b.txt", "a.txt", "c/1.txt", "c/2.txt")
	v.choose("Order", "name")
	v.isAt("/sets/" + sid)
	v.choose("Show", "deleted")
	v.lists("gone.txt")
	v.choose("Show", "all")
	v.lists("c", "a.txt", "b.txt", "gone.txt")
	v.do(chromedp.SendKeys(chromedp.CSS("main input[type=search]"), "c/"))
	v.lists("c/1.txt", "c/2.txt")
	v.isAt("/sets/" + sid + "?state=all&prefix=c%2F")
}
