package pages

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// The page shows the usage of active and deleted files by dataspace and by day, in bytes and in
// files.
func TestUsage(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	laser, sheets := browser.DataspaceWith(t, s, "laser", "Laser lab", 3000, 2000, 1000), browser.DataspaceWith(t, s, "sheets", "Data sheets", 70_000)
	s.Do(t, http.MethodDelete, "/resources/"+laser.Files[2], nil)
	s.Overwrite(t, laser.Files[0], strings.Repeat("y", 3000))

	v := s.SignedIn(t, s.Key(), "/usage")
	v.Sees("By dataspace", "in 3 files", "in 1 file", "75,000 bytes active, 1,000 bytes deleted, 3,000 bytes in old versions", "in 1 version")
	v.Until(`[...document.querySelectorAll(".bars a")].map((a) => a.innerText.trim()).join() === "Data sheets,Laser lab"`)
	v.Until(`document.querySelector(".bars").textContent.includes("5,000 bytes active, 1,000 bytes deleted, 3,000 bytes in old versions")`)
	v.Until(`["active", "deleted", "old"].every((kind) => document.querySelector(".usage-chart path." + kind))`)
	v.Shots("usage")

	browser.Click(v, chromedp.Search(`//summary[.="As a table"]`))
	v.Sees("75,000", "1,000")

	v.At("/usage?measure=files&days=30")
	v.Sees("3 files active, 1 file deleted, 1 old version")
	v.Until(`[...document.querySelectorAll(".bars a")].map((a) => a.innerText.trim()).join() === "Laser lab,Data sheets"`)
	v.Do(chromedp.Focus(chromedp.Search(`//*[@role="slider"]`)), chromedp.Evaluate[chromedp.Void](
		`document.querySelector("[role=slider]").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }))`))
	v.Sees("0 files active, 0 files deleted") // yesterday

	v.Follow("Data sheets")
	v.Sees("Usage of Data sheets", "1 file active, 0 files deleted")
	v.Until(`location.search.includes("dataspace=` + sheets.Dataspace + `") && !document.querySelector(".bars")`)
}

// Without files, the page shows a message instead of a chart. An unknown dataspace is an error.
func TestUsageWithoutFiles(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	v := s.SignedIn(t, s.Key(), "/usage", "status of 404")
	v.Sees("No files yet")
	v.At("/usage?dataspace=01JD2PZX3B6C9D2F5G8H1J4K7M")
	v.Sees("It may not exist, or you may lack permission to see it.", "All dataspaces")
}

// Over years, the chart has values for days without changes, and readable dates.
func TestUsageOverYears(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	browser.DataspaceWith(t, s, "laser", "Laser lab", 3000)
	v := s.SignedIn(t, s.Key(), "/")
	// To create a history of years, the script adds days to the answer before the page receives it.
	v.Do(chromedp.Evaluate[chromedp.Void](`{
		const real = fetch, day = (ago) => new Date(Date.now() - ago * 86400000).toISOString().slice(0, 10);
		window.fetch = async (address, init) => {
			const answer = await real(address, init);
			if (!String(address).endsWith("/v1/usage")) return answer;
			const usage = await answer.json();
			const points = Array.from({ length: 60 }, (_, i) => ({ day: day(800 - 12 * i), activeFiles: 40 + 3 * i, activeBytes: (40 + 3 * i) * 1e8,
				deletedFiles: i, deletedBytes: i * 7e7, oldVersions: 0, oldBytes: 0 }));
			usage.days = [...points, { day: day(45), activeFiles: 7, activeBytes: 5 * 2 ** 30, deletedFiles: 2, deletedBytes: 2 ** 30, oldVersions: 3, oldBytes: 2 ** 29 }, ...usage.days];
			return new Response(JSON.stringify(usage), { status: 200 });
		};
	}`))
	v.Follow("Usage")
	v.Sees("3,000 bytes active, 0 bytes deleted")
	v.Until(`[...document.querySelectorAll(".usage-chart .below")].length >= 3 && [...document.querySelectorAll(".usage-chart .below")].every((t) => /20\d\d$/.test(t.textContent))`)
	v.Shots("usage-years")
	chosen := func(key string) {
		v.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("[role=slider]").dispatchEvent(new KeyboardEvent("keydown", { key: "` + key + `", bubbles: true }))`))
	}
	chosen("PageUp")
	v.Sees("5,368,709,120 bytes active, 1,073,741,824 bytes deleted, 536,870,912 bytes in old versions") // no change 30 days ago: the values of 45 days ago
	chosen("Home")
	v.Sees(": 0 bytes active, 0 bytes deleted")
	v.Do(chromedp.SetValue(chromedp.Search(`//label[contains(., "Time")]/select`), "30"),
		chromedp.Evaluate[chromedp.Void](`document.querySelectorAll(".filters select")[1].dispatchEvent(new Event("change", { bubbles: true }))`))
	v.Until(`location.search === "?days=30"`)
	chosen("Home")
	v.Sees("5,368,709,120 bytes active") // the values at the start of the range
	browser.Click(v, chromedp.Search(`//summary[.="As a table"]`))
	v.Until(`document.querySelectorAll(".by-day tbody tr").length === 2`)
}
