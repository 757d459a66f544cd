package browser

import (
	"bufio"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
)

// lab is a running labshelf demo.
type lab struct {
	*site
	keys map[string]string // by user name
}

var signInLink = regexp.MustCompile(`(http://[^/]+)/signin#(lsk_\S+)`)

// openDemo starts labshelf demo, which ends with the test.
func openDemo(t *testing.T) *lab {
	t.Helper()
	shell.need(t)
	cmd := exec.CommandContext(t.Context(), program, "demo")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stepTimeout
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the context of the test has ended, which stops the process
	d := &lab{site: &site{browser: shell}, keys: map[string]string{}}
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

// A new user finds a file, plots two columns, uploads a folder and gives a colleague access,
// following links only.
func TestFirstVisit(t *testing.T) {
	t.Parallel()
	d := openDemo(t)
	v := d.visit(t)
	v.at("/")
	v.signIn(d.keys["ines"])
	v.follow("Plant growth and stress")
	v.follow("Climate of chamber 3, September")
	v.do(chromedp.SendKeys(chromedp.CSS("main input[type=search]"), "chamber"))
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
	v.lists("October")
	v.follow("October")
	v.lists("images", "a.csv")
	v.follow("Plant growth and stress")
	v.menuOf("Share", "Members")
	v.until(`[...document.querySelectorAll(".row select")].some((s) => s.getAttribute("aria-label") === "Role of jon")`)
	v.press("Remove access of Jon Abara")
	v.submit()
	v.until(`document.querySelector(".list .foot").innerText === "3 members"`)
	v.press("Give access")
	v.fill("User", "jon")
	v.submit()
	v.until(`document.querySelector(".list .foot").innerText === "4 members"`)
	v.shot("story-members")
	jon := d.visit(t)
	jon.at("/")
	jon.signIn(d.keys["jon"])
	jon.follow("Plant growth and stress")
	jon.follow("october")
	jon.lists("October")
}
