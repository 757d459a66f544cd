package browser

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
)

// What was uploaded and deleted is counted, by dataspace and by day, in bytes and in files.
func TestUsage(t *testing.T) {
	t.Parallel()
	s := open(t)
	laser, sheets := holding(t, s, "laser", "Laser lab", 3000, 2000, 1000), holding(t, s, "sheets", "Data sheets", 70_000)
	if err := s.Call(t.Context(), http.MethodDelete, "/resources/"+laser.files[2], nil, nil); err != nil {
		t.Fatal(err)
	}

	v := s.visit(t)
	v.at("/usage")
	v.signIn(s.Key())
	v.sees("By dataspace", "in 3 files", "in 1 file", "75,000 bytes active, 1,000 bytes deleted")
	v.until(`[...document.querySelectorAll(".bars a")].map((a) => a.innerText.trim()).join() === "Data sheets,Laser lab"`)
	v.until(`document.querySelector(".bars").textContent.includes("5,000 bytes active, 1,000 bytes deleted")`)
	v.until(`document.querySelector(".course path.active") && document.querySelector(".course path.deleted")`)
	pictures(v, "usage")

	click(v, chromedp.Search(`//summary[.="As a table"]`))
	v.sees("75,000", "1,000")

	v.at("/usage?measure=files&days=30")
	v.sees("3 files active, 1 file deleted")
	v.until(`[...document.querySelectorAll(".bars a")].map((a) => a.innerText.trim()).join() === "Laser lab,Data sheets"`)
	v.do(chromedp.Focus(chromedp.Search(`//*[@role="slider"]`)), chromedp.Evaluate[chromedp.Void](
		`document.querySelector("[role=slider]").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }))`))
	v.sees("0 files active, 0 files deleted") // yesterday

	v.follow("Data sheets")
	v.sees("Usage of Data sheets", "1 file active, 0 files deleted")
	v.until(`location.search.includes("dataspace=` + sheets.dataspace + `") && !document.querySelector(".bars")`)
}

// Before the first file there is a word instead of an empty drawing; a dataspace that is not there is a clear error.
func TestUsageOfNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.visit(t)
	v.expect("status of 404")
	v.at("/usage")
	v.signIn(s.Key())
	v.sees("Nothing has been put in yet")
	v.at("/usage?dataspace=01JD2PZX3B6C9D2F5G8H1J4K7M")
	v.sees("It may never have existed, or you may not see it.", "All dataspaces")
}

// Over years the chart has the value of each day between two that changed something, and dates that can be read.
func TestUsageOverYears(t *testing.T) {
	t.Parallel()
	s := open(t)
	holding(t, s, "laser", "Laser lab", 3000)
	v := s.visit(t)
	v.at("/")
	v.signIn(s.Key())
	// A history of years takes years: to the real answer days are added on its way to the page.
	v.do(chromedp.Evaluate[chromedp.Void](`{
		const real = fetch, day = (ago) => new Date(Date.now() - ago * 86400000).toISOString().slice(0, 10);
		window.fetch = async (address, init) => {
			const answer = await real(address, init);
			if (!String(address).endsWith("/usage")) return answer;
			const usage = await answer.json();
			const points = Array.from({ length: 60 }, (_, i) => ({ day: day(800 - 12 * i), activeFiles: 40 + 3 * i, activeBytes: (40 + 3 * i) * 1e8,
				deletedFiles: i, deletedBytes: i * 7e7 }));
			usage.days = [...points, { day: day(45), activeFiles: 7, activeBytes: 5 * 2 ** 30, deletedFiles: 2, deletedBytes: 2 ** 30 }, ...usage.days];
			return new Response(JSON.stringify(usage), { status: 200 });
		};
	}`))
	v.follow("Usage")
	v.sees("3,000 bytes active, 0 bytes deleted")
	v.until(`[...document.querySelectorAll(".course .below")].length >= 3 && [...document.querySelectorAll(".course .below")].every((t) => /20\d\d$/.test(t.textContent))`)
	pictures(v, "usage-years")
	chosen := func(key string) {
		v.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("[role=slider]").dispatchEvent(new KeyboardEvent("keydown", { key: "` + key + `", bubbles: true }))`))
	}
	chosen("PageUp")
	v.sees("5,368,709,120 bytes active, 1,073,741,824 bytes deleted") // 30 days ago nothing changed: as it was 45 days ago
	chosen("Home")
	v.sees(": 0 bytes active, 0 bytes deleted")
	v.do(chromedp.SetValue(chromedp.Search(`//label[contains(., "Time")]/select`), "30"),
		chromedp.Evaluate[chromedp.Void](`document.querySelectorAll(".tools select")[1].dispatchEvent(new Event("change", { bubbles: true }))`))
	v.until(`location.search === "?days=30"`)
	chosen("Home")
	v.sees("5,368,709,120 bytes active") // it was there when these days began
	click(v, chromedp.Search(`//summary[.="As a table"]`))
	v.until(`document.querySelectorAll(".by-day tbody tr").length === 2`)
}

// held is a dataspace with one set, and what was uploaded there.
type held struct {
	dataspace string
	files     []string
}

// holding makes a dataspace with files of those sizes.
func holding(t *testing.T, s *site, name, title string, sizes ...int) (h held) {
	t.Helper()
	var err error
	if h.dataspace, err = s.Make(t.Context(), "/dataspaces", map[string]string{"name": name, "title": title}); err != nil {
		t.Fatal(err)
	}
	set, err := s.Make(t.Context(), "/sets", map[string]string{"name": name + "-set", "dataspaceId": h.dataspace})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range sizes {
		body := strings.NewReader(strings.Repeat("x", size))
		file, err := s.Upload(t.Context(), http.MethodPost, "/resources", e2e.File{SetID: set, Filename: "run.txt", Body: body, Size: int64(size)})
		if err != nil {
			t.Fatal(err)
		}
		h.files = append(h.files, file.ID)
	}
	return h
}
