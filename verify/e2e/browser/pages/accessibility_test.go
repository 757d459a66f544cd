package pages

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
	"labshelf/verify/e2e/browser"
)

// everyPage returns the names and paths of all pages, with objects of the sample repository.
func everyPage(t *testing.T, d *lab) [][2]string {
	t.Helper()
	client := e2e.NewClient(d.Origin+"/v1", d.keys["admin"])
	first := func(listing string) string {
		var page struct{ Data []struct{ ID string } }
		if err := client.Call(t.Context(), "GET", listing, nil, &page); err != nil || len(page.Data) == 0 {
			t.Fatalf("%s: %v", listing, err)
		}
		return page.Data[0].ID
	}
	did := first("/dataspaces")
	sid := first("/dataspaces/" + did + "/sets")
	rid := first("/sets/" + sid + "/resources")
	for _, content := range []string{"second,volt\n0,1.5\n", "second,volt\n0,1.7\n"} {
		if _, err := client.Upload(t.Context(), "PUT", "/resources/"+rid,
			e2e.File{Filename: "run.csv", Body: strings.NewReader(content), Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Call(t.Context(), "PUT", "/resources/"+rid+"/versions/2/label", map[string]string{"label": "as published"}, nil); err != nil {
		t.Fatal(err)
	}
	metadata := map[string]any{"metadata": map[string]any{"tags": []string{"raw", "deep ice"}, "properties": map[string]any{"operator": "Ada"}}}
	for method, path := range map[string]string{"PUT": "/sets/" + sid, "PATCH": "/resources/" + rid} {
		if err := client.Call(t.Context(), method, path, metadata, nil); err != nil {
			t.Fatal(err)
		}
	}
	var schema struct{ ID string }
	fields := map[string]any{"name": "measurement", "title": "Measurement", "types": []string{".csv"}, "schema": json.RawMessage(measurementSchema)}
	if err := client.Call(t.Context(), "POST", "/dataspaces/"+did+"/schemas", fields, &schema); err != nil {
		t.Fatal(err)
	}
	return [][2]string{
		{"home", "/"}, {"dataspace", "/dataspaces/" + did}, {"files", "/dataspaces/" + did + "?view=files&order=newest"},
		{"set", "/sets/" + sid}, {"resource", "/resources/" + rid},
		{"version", "/resources/" + rid + "/versions/2"}, {"compare", "/resources/" + rid + "/versions/2?with=3"},
		{"members", "/dataspaces/" + did + "/members"}, {"history", "/resources/" + rid + "/history"}, {"audit", "/audit"},
		{"webhooks", "/webhooks"}, {"links", "/links"}, {"trash", "/trash"}, {"search", "/search?q=csv"}, {"search-empty", "/search"}, {"usage", "/usage"}, {"account", "/account"},
		{"users", "/users"}, {"service", "/service"}, {"docs", "/docs"}, {"interface", "/docs/interface"}, {"manual", "/docs/manual"}, {"operations", "/docs/operations"}, {"nowhere", "/no/such/page"},
		{"missing", "/sets/nothing"}, {"forms", "/dataspaces/" + did + "?view=schemas"}, {"form", "/schemas/" + schema.ID}, {"form-builder", "/schemas/" + schema.ID + "/edit"},
		{"table", "/sets/" + sid + "/table"},
	}
}

// lightOnly lists long pages that consist of parts of other pages. Those pages are audited in the
// dark theme, too.
var lightOnly = []string{"audit", "interface", "operations"}

// axe-core finds no serious violation on any page, in both themes, and no page is wider than a
// narrow window.
func TestEveryPageIsAccessible(t *testing.T) {
	t.Parallel()
	d := openDemo(t)
	script := browser.Axe(t)
	v := d.Visit(t)
	v.Expect("status of 404")
	v.At("/signin")
	narrow := func(name string) {
		if overflow := browser.Get(v, chromedp.Evaluate[float64](`document.documentElement.scrollWidth - innerWidth`)); overflow > 0 {
			t.Errorf("%s is %v px too wide for a window of %v px", name, overflow, browser.Get(v, chromedp.Evaluate[float64]("innerWidth")))
		}
	}
	look := func(name string) {
		v.Loaded()
		v.Theme("light")
		found := v.Audit(script)
		v.Shot(name + "-light")
		v.Theme("dark")
		if !slices.Contains(lightOnly, name) {
			found = append(found, v.Audit(script, "color-contrast")...)
		}
		v.Shot(name + "-dark")
		for _, f := range found {
			t.Errorf("%s: %s: %s: %s\n\t%s", name, f.Impact, f.ID, f.Help, f.Where)
		}
	}
	look("signin")
	v.SignIn(d.keys["admin"])
	for _, page := range everyPage(t, d) {
		v.GoTo(page[1])
		look(page[0])
		if os.Getenv("SHOTS") != "" {
			v.Size(2560, 1300)
			v.Shot(page[0] + "-2560")
		}
		v.Size(360, 740)
		v.Shot(page[0] + "-360")
		narrow(page[0])
		v.Size(1280, 800)
	}
}
