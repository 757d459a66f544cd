package pages

import (
	"bufio"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"labshelf/verify/e2e/browser"
)

// lab is a running labshelf demo.
type lab struct {
	*browser.Site
	keys map[string]string // by user name
}

var signInLink = regexp.MustCompile(`(http://[^/]+)/signin#(lsk_\S+)`)

// openDemo starts labshelf demo, which ends with the test.
func openDemo(t *testing.T) *lab {
	t.Helper()
	browser.Need(t)
	cmd := exec.CommandContext(t.Context(), browser.Program, "demo")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = browser.StepTimeout
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the end of the test's context stops the process
	var origin string
	keys := map[string]string{}
	lines := bufio.NewScanner(out)
	for last := ""; lines.Scan() && !strings.Contains(lines.Text(), "curl"); {
		if found := signInLink.FindStringSubmatch(lines.Text()); found != nil {
			origin, last = found[1], found[2]
		} else if name, _, is := strings.Cut(strings.TrimSpace(lines.Text()), ","); is && last != "" {
			keys[name] = last
		}
	}
	if len(keys) < 4 {
		t.Fatalf("labshelf demo printed the keys of %d people", len(keys))
	}
	return &lab{browser.NewSite(origin), keys}
}

// A new user finds a file, plots two columns, uploads a folder and gives a colleague access, by
// following links only.
func TestFirstVisit(t *testing.T) {
	t.Parallel()
	d := openDemo(t)
	v := d.Visit(t)
	v.At("/")
	v.SignIn(d.keys["ines"])
	v.Follow("Plant growth and stress")
	v.Follow("Climate of chamber 3, September")
	v.Do(chromedp.SendKeys(chromedp.CSS("main input[type=search]"), "chamber"))
	v.Lists("chamber-3.csv")
	v.Follow("chamber-3.csv")
	v.Press("Plot")
	v.Until(`document.querySelector(".chart")?.dataset.points === "2016"`)
	browser.Click(v, browser.BoxOf("humidity_pct"))
	v.Until(`location.search.includes("y=2.3")`)
	v.Shot("story-plot")
	v.Follow("Plant growth and stress")
	v.Pick("Folder to upload", browser.Folder(t, "October", map[string]int{"a.csv": 100, "images/b.bin": 5000}))
	v.Submit()
	v.Sees("All done", "2 sent")
	v.Follow("october")
	v.Lists("October")
	v.Follow("October")
	v.Lists("images", "a.csv")
	v.Follow("Plant growth and stress")
	menuOf(v, "Share", "Members")
	v.Until(`[...document.querySelectorAll(".row select")].some((s) => s.getAttribute("aria-label") === "Role of jon")`)
	v.Press("Remove access of Jon Abara")
	v.Submit()
	v.Until(`document.querySelector(".list .foot").innerText === "3 members"`)
	v.Press("Give access")
	v.Fill("User", "jon")
	v.Submit()
	v.Until(`document.querySelector(".list .foot").innerText === "4 members"`)
	v.Shot("story-members")
	jon := d.Visit(t)
	jon.At("/")
	jon.SignIn(d.keys["jon"])
	jon.Follow("Plant growth and stress")
	jon.Follow("october")
	jon.Lists("October")
}
