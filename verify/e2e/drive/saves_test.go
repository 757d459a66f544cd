package drive

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"labshelf/verify/e2e"
)

// saves is the folder of the recordings. Package handlers replays them.
const saves = "../../../handlers/testdata/saves"

// saving is a way of saving a file: a shell command that runs in the folder of the file, with its
// name in FILE.
type saving struct{ program, version, file, command string }

var savings = []saving{
	{"vim", "vim --version | head -1", "notes.md", `vim -Nu /etc/vim/vimrc --not-a-term -c 'normal onew' -c wq "$FILE" </dev/null`},
	{"vim-backupcopy-no", "vim --version | head -1", "notes.md", `vim -Nu /etc/vim/vimrc --not-a-term -c 'set backupcopy=no' -c 'normal onew' -c wq "$FILE" </dev/null`},
	{"vim-backupcopy-yes", "vim --version | head -1", "notes.md", `vim -Nu /etc/vim/vimrc --not-a-term -c 'set backupcopy=yes' -c 'normal onew' -c wq "$FILE" </dev/null`},
	{"nano", "nano --version | head -1", "notes.md", `(sleep 2; printf 'new\017'; sleep 1; printf '\r'; sleep 1; printf '\030'; sleep 1) | TERM=xterm timeout 20 script -qec 'nano notes.md' /dev/null`},
	{"sed-i", "sed --version | head -1", "notes.md", `sed -i 's/old/new/' "$FILE"`},
	{"rsync", "rsync --version | head -1", "data.csv", `rsync "$NEW/data.csv" ./data.csv`},
	{"rsync-inplace", "rsync --version | head -1", "data.csv", `rsync --inplace "$NEW/data.csv" ./data.csv`},
	{"cp", "cp --version | head -1", "data.csv", `cp "$NEW/data.csv" data.csv`},
	{"libreoffice", "soffice --version", "report.ods", `/usr/bin/python3 "$TESTDATA/save.py" "$PWD/report.ods"`},
}

// TestRecordSaves records, with SAVES=record, the requests of programs that save a file on a
// mounted drive. Each recording begins with the command and the resulting state of the file.
func TestRecordSaves(t *testing.T) {
	if os.Getenv("SAVES") != "record" {
		t.Skip("not recording; set SAVES=record")
	}
	check(t, os.MkdirAll(saves, 0o755))
	testdata, err := filepath.Abs("testdata")
	check(t, err)
	for _, mount := range []struct {
		name, version string
		mount         func(*drive, string) (unmount func())
	}{
		{"davfs2", "mount.davfs --version 2>&1 | head -1", func(d *drive, at string) func() { return d.mountDavfs2(at, "delay_upload 0\n") }},
		{"davfs2-delayed", "mount.davfs --version 2>&1 | head -1", func(d *drive, at string) func() { return d.mountDavfs2(at, "") }},
		{"rclone", "rclone version | head -1", (*drive).mountRclone},
	} {
		for _, s := range savings {
			t.Run(mount.name+"/"+s.program, func(t *testing.T) {
				d := recorded{drive: serve(t)}
				d.service = d.url
				r := d.record()
				folder := t.TempDir()
				check(t, os.WriteFile(filepath.Join(folder, "data.csv"), []byte("new,data,of another size\n"), 0o600))
				old := first(t, folder, s.file)
				if a := d.request("PUT", d.service+"/"+s.file, string(old)); a.Status != http.StatusCreated {
					t.Fatal(a.Problem())
				}
				before := d.files()[s.file]
				r.begin()
				mounted := filepath.Join(t.TempDir(), "mounted")
				check(t, os.Mkdir(mounted, 0o755))
				unmount := mount.mount(d.drive, mounted)
				command := exec.CommandContext(t.Context(), "sh", "-ec", s.command)
				command.Dir, command.Env = mounted, append(os.Environ(), "FILE="+s.file, "NEW="+folder, "TESTDATA="+testdata)
				out, err := command.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%s\n%s", s.command, err, tail(string(out)), r.end())
				}
				unmount()
				eventually(t, func() error {
					a := d.request("GET", d.service+"/"+s.file, "")
					if len(a.Body) == 0 || bytes.Equal(a.Body, old) {
						return fmt.Errorf("the program saved nothing: the service returns %d bytes with status %d\n%s", len(a.Body), a.Status, tail(string(out)))
					}
					return r.rested()
				})
				after, kept := d.files(), "no"
				if after[s.file].ID == before.ID {
					kept = "yes"
				}
				if len(after) != 1 {
					t.Errorf("the folder contains %v", after)
				}
				head := fmt.Sprintf("# %s\n# %s, by %s\n# file: %s\n# keeps its id: %s\n# version: %d\n", s.command, said(t, s.version), said(t, mount.version), s.file, kept, after[s.file].Version)
				check(t, os.WriteFile(filepath.Join(saves, mount.name+"-"+s.program+".txt"), []byte(head+r.end()), 0o644))
			})
		}
	}
}

// recorded is a drive whose url leads through a recorder. service is the direct address.
type recorded struct {
	*drive
	service string
}

// first returns the content of a file before it is saved.
func first(t *testing.T, folder, name string) []byte {
	t.Helper()
	if filepath.Ext(name) != ".ods" {
		return []byte("old,data\n")
	}
	check(t, os.WriteFile(filepath.Join(folder, "report.csv"), []byte("old"), 0o600))
	run(t, "", nil, "soffice", "--headless", "-env:UserInstallation=file://"+filepath.Join(folder, "profile"), "--convert-to", "ods", "--outdir", folder, filepath.Join(folder, "report.csv"))
	text, err := os.ReadFile(filepath.Join(folder, name))
	check(t, err)
	return text
}

func said(t *testing.T, command string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", command).Output()
	check(t, err)
	return strings.TrimSpace(string(out))
}

// files returns the files of the set by name.
func (d *drive) files() map[string]e2e.Resource {
	d.t.Helper()
	var page e2e.Page
	check(d.t, d.Get(d.t.Context(), "/sets/"+d.set+"/resources?limit=1000", &page))
	all := map[string]e2e.Resource{}
	for _, r := range page.Data {
		all[r.Name] = r
	}
	return all
}

// recorder records the requests that pass through it.
type recorder struct {
	mu          sync.Mutex
	url, prefix string // URL of the set for clients, and its path
	lines       []string
	tokens      []string // lock tokens, in the order in which they were issued
	last        time.Time
}

// headers are the request headers that determine the effect of a request.
var headers = []string{"Depth", "Destination", "Overwrite", "If", "If-Match", "If-None-Match", "Lock-Token", "Timeout", "Content-Range", "Expect", "OC-Checksum", "Range"}

// record puts a recording proxy in front of the drive.
func (d *drive) record() *recorder {
	d.t.Helper()
	to, err := url.Parse("http://" + d.Address())
	check(d.t, err)
	r := &recorder{}
	proxy := &httputil.ReverseProxy{
		Rewrite:        func(p *httputil.ProxyRequest) { p.SetURL(to); p.Out.Host = p.In.Host },
		ModifyResponse: func(a *http.Response) error { r.note(a); return nil },
	}
	server := httptest.NewServer(proxy)
	d.t.Cleanup(server.Close)
	at, err := url.Parse(d.url)
	check(d.t, err)
	d.url, r.prefix = server.URL+at.Path, at.Path
	r.url = d.url
	return r
}

var tag = regexp.MustCompile(`"[A-Za-z0-9_-]{43}"`)

// note records a request and its status. It replaces tags and tokens, which differ in each run.
func (r *recorder) note(a *http.Response) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.Request.Method == "LOCK" && a.Header.Get("Lock-Token") != "" {
		r.tokens = append(r.tokens, strings.Trim(a.Header.Get("Lock-Token"), "<>"))
	}
	line := fmt.Sprintf("%d %s %s", a.StatusCode, a.Request.Method, strings.TrimPrefix(a.Request.URL.EscapedPath(), r.prefix))
	for _, name := range headers {
		value := a.Request.Header.Get(name)
		if value == "" {
			continue
		}
		for n, token := range r.tokens {
			value = strings.ReplaceAll(value, token, fmt.Sprintf("TOKEN%d", n+1))
		}
		line += " | " + name + ": " + tag.ReplaceAllString(strings.ReplaceAll(value, r.url, "$"), `"TAG"`)
	}
	if (a.Request.Method == http.MethodPut || a.Request.Method == "LOCK") && a.Request.ContentLength == 0 {
		line += " | Content-Length: 0"
	}
	r.lines, r.last = append(r.lines, line), time.Now()
}

// rested returns an error unless three seconds have passed since the last request.
func (r *recorder) rested() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.last) < 3*time.Second {
		return errors.New("requests are still arriving")
	}
	return nil
}

func (r *recorder) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines, r.tokens = nil, nil
}

func (r *recorder) end() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.lines, "\n") + "\n"
}
