package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e"
)

// lab is the repository of labshelf demo, under way.
type lab struct {
	*site
	keys map[string]string // by user name
}

var signInLink = regexp.MustCompile(`(http://[^/]+)/signin#(lsk_\S+)`)

// openDemo starts labshelf demo, which ends with the test.
func openDemo(t *testing.T) *lab {
	t.Helper()
	needBrowser(t)
	cmd := exec.CommandContext(t.Context(), program, "demo")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // t.Context() is done by now, which asks it to end
	d := &lab{site: &site{}, keys: map[string]string{}}
	lines := bufio.NewScanner(out)
	for last := ""; lines.Scan() && !strings.Contains(lines.Text(), "curl"); {
		if found := signInLink.FindStringSubmatch(lines.Text()); found != nil {
			d.origin, last = found[1], found[2]
		} else if name, _, is := strings.Cut(strings.TrimSpace(lines.Text()), ","); is && last != "" {
			d.keys[name] = last
		}
	}
	if len(d.keys) < 4 {
		t.Fatalf("labshelf demo printed the keys of %d people", len(d.keys))
	}
	return d
}

// theme has the visitor's system prefer light or dark colours.
func (v *visitor) theme(name string) {
	v.t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}
	if _, err := chromedp.Call(v.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		v.t.Fatal(err)
	}
}

// size makes the window another size.
func (v *visitor) size(width, height int64) {
	v.t.Helper()
	v.do(chromedp.EmulateViewport(width, height))
}

// calm waits until the page has loaded what it shows.
func (v *visitor) calm() {
	v.t.Helper()
	v.until(`document.querySelector("main h1, main [role=alert] p") && !document.querySelector(".waiting")`)
}

// axe is what checks pages for those who see little, or nothing, or use no mouse.
func axe(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("..", "..", "..", "web", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("axe-core is not installed: %v", err)
		}
		t.Skipf("axe-core is not installed (npm ci in web/): %v", err)
	}
	return string(script)
}

// finding is what axe holds against a page.
type finding struct{ Impact, ID, Help, Where string }

// judge runs axe over the page as it stands; only some rules, or all.
func (v *visitor) judge(script string, rules ...string) []finding {
	v.t.Helper()
	v.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.Evaluate[bool]("!!window.axe||(()=>{"+script+"})()||true")(ctx, t)
		return err
	}))
	options := `{}`
	if len(rules) > 0 {
		text, _ := json.Marshal(rules)
		options = `{runOnly: ` + string(text) + `}`
	}
	return get(v, chromedp.Evaluate[[]finding](`axe.run(document, `+options+`).then((found) => found.violations
		.filter((f) => f.impact === "serious" || f.impact === "critical")
		.flatMap((f) => f.nodes.map((n) => ({Impact: f.impact, ID: f.id, Help: f.help, Where: n.html.slice(0, 200)}))))`,
		chromedp.EvalAwaitPromise))
}

// everyPage are addresses of all pages over the sample repository; DATASPACE, SET and so on stand for ids.
func everyPage(t *testing.T, d *lab) [][2]string {
	t.Helper()
	client := e2e.NewClient(d.origin+"/v1", d.keys["admin"])
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
	return [][2]string{
		{"home", "/"}, {"dataspace", "/dataspaces/" + did}, {"files", "/dataspaces/" + did + "?view=files&order=newest"},
		{"set", "/sets/" + sid}, {"set-by-name", "/sets/" + sid + "?state=all&order=name"}, {"resource", "/resources/" + rid},
		{"members", "/dataspaces/" + did + "/members"}, {"trash", "/trash"}, {"usage", "/usage"}, {"account", "/account"},
		{"users", "/users"}, {"service", "/service"}, {"docs", "/docs"}, {"interface", "/docs/interface"}, {"nowhere", "/no/such/page"},
		{"missing", "/sets/nothing"},
	}
}

// Every page can be used with a screen reader, without a mouse, and with weak eyes: axe finds nothing serious, in light and in dark.
func TestEveryPageIsAccessible(t *testing.T) {
	t.Parallel()
	d := openDemo(t)
	script := axe(t)
	v := d.visit(t)
	v.expect("status of 404")
	v.at("/signin")
	narrow := func(name string) {
		if overflow := get(v, chromedp.Evaluate[float64](`document.documentElement.scrollWidth - innerWidth`)); overflow > 0 {
			t.Errorf("%s is %v px too wide for a window of %v px", name, overflow, get(v, chromedp.Evaluate[float64]("innerWidth")))
		}
	}
	look := func(name string) {
		v.calm()
		v.theme("light")
		found := v.judge(script)
		v.shot(name + "-light")
		v.theme("dark")
		found = append(found, v.judge(script, "color-contrast")...)
		v.shot(name + "-dark")
		for _, f := range found {
			t.Errorf("%s: %s: %s: %s\n\t%s", name, f.Impact, f.ID, f.Help, f.Where)
		}
	}
	look("signin")
	v.signIn(d.keys["admin"])
	for _, page := range everyPage(t, d) {
		v.at(page[1])
		look(page[0])
		v.size(2560, 1300)
		v.shot(page[0] + "-2560")
		v.size(360, 740)
		v.shot(page[0] + "-360")
		narrow(page[0])
		v.size(1280, 800)
	}
}
