package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// Somebody who has never seen it finds a file, plots two columns of it, uploads a folder and gives a colleague access, by the pages
// alone: no address is typed but that of the service.
func TestFirstVisit(t *testing.T) {
	t.Parallel()
	d := openDemo(t)
	v := d.visit(t)
	v.at("/")
	v.signIn(d.keys["ines"])
	v.follow("Plant growth and stress")
	v.follow("Climate of chamber 3, September")
	v.do(chromedp.SendKeys(chromedp.CSS("input[type=search]"), "chamber"))
	v.lists("chamber-3.csv")
	v.follow("chamber-3.csv")
	v.press("Plot")
	v.until(`document.querySelector(".chart")?.dataset.points === "2016"`)
	click(v, boxOf("humidity_pct"))
	v.until(`location.search.includes("y=2.3")`)
	v.shot("story-plot")
	v.follow("Plant growth and stress")
	v.pick("Folder to upload", folder(t, "October", map[string]int{"a.csv": 100, "images/b.bin": 5000}))
	v.submit()
	v.sees("All done", "2 sent")
	v.follow("october")
	v.lists("October/a.csv", "October/images/b.bin")
	v.follow("Plant growth and stress")
	v.follow("Members")
	v.until(`[...document.querySelectorAll(".row select")].some((s) => s.getAttribute("aria-label") === "Role of jon")`)
	v.press("Remove access of Jon Abara")
	v.submit()
	v.until(`document.querySelector(".list .foot").innerText === "3 people"`)
	v.press("Give access")
	v.fill("Person", "jon")
	v.submit()
	v.until(`document.querySelector(".list .foot").innerText === "4 people"`)
	v.shot("story-members")
	jon := d.visit(t)
	jon.at("/")
	jon.signIn(d.keys["jon"])
	jon.follow("Plant growth and stress")
	jon.follow("october")
	jon.lists("October/a.csv", "October/images/b.bin")
}
