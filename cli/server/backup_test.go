package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"labshelf/backup"
	"labshelf/cli/exit"
)

// line is a connection to a service. It breaks each time after a number of bytes has been received.
type line struct {
	base   string // URL of the service through the line
	breaks func() int
}

// newLine returns a line that works until the test ends.
func newLine(t *testing.T, service string, lasts int64) line {
	t.Helper()
	to, err := url.Parse(service)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var calls sync.WaitGroup
	var mu sync.Mutex
	broken := 0
	calls.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return // the test has ended
			}
			calls.Go(func() {
				if carry(near, to.Host, lasts) < lasts {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				broken++
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		calls.Wait()
	})
	return line{fmt.Sprintf("http://%s%s", listener.Addr(), to.Path), func() int {
		mu.Lock()
		defer mu.Unlock()
		return broken
	}}
}

// carry forwards the bytes of a connection in both directions, up to a number of bytes from the
// service. It returns the number of bytes from the service.
func carry(near net.Conn, service string, lasts int64) int64 {
	far, err := net.Dial("tcp", service)
	if err != nil {
		_ = near.Close()
		return 0
	}
	var there sync.WaitGroup
	there.Go(func() {
		_, _ = io.Copy(far, near) // ends when either side is closed
		_ = far.Close()
	})
	n, _ := io.CopyN(near, far, lasts)
	_, _ = near.Close(), far.Close()
	there.Wait()
	return n
}

// inlineFiles is a service with a number of files of 300,000 bytes, and their digests.
type inlineFiles struct {
	*caller
	digests []string
}

func newFiles(t *testing.T, n int, args ...string) *inlineFiles {
	t.Helper()
	f := &inlineFiles{caller: &caller{t: t, log: &output{}, client: newClient(nil)}}
	f.at, _ = start(t, f.log, args...)
	t.Cleanup(f.client.CloseIdleConnections)
	space := f.call("POST", "/dataspaces", `{"name": "lab"}`)["id"]
	f.set = f.call("POST", "/sets", fmt.Sprintf(`{"name": "runs", "dataspaceId": %q}`, space))["id"].(string)
	f.add(n)
	return f
}

// add uploads n new files.
func (f *inlineFiles) add(n int) {
	f.t.Helper()
	head, tail, kind := f.upload()
	for range n {
		content := bytes.Repeat([]byte{byte('a' + len(f.digests))}, 300_000)
		made := f.object(f.exchange("POST", "/resources", io.MultiReader(strings.NewReader(head), bytes.NewReader(content), strings.NewReader(tail)), kind))
		f.digests = append(f.digests, made["sha256"].(string))
	}
}

// backUp runs the command. It returns its exit code, stdout and stderr.
func (f *inlineFiles) backUp(base, dest string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	code = run([]string{"backup", "create", dest, "--server", base}, []string{"LABSHELF_KEY=" + f.at.firstKey}, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// TestBackupSurvivesBadConnection: files that do not arrive are not reported as lost. The command
// fails with an error, and the older backup is kept. With a better line, the next backup is
// complete.
func TestBackupSurvivesBadConnection(t *testing.T) {
	t.Parallel()
	f := newFiles(t, 1)
	dest := filepath.Join(t.TempDir(), "b")
	if code, _, errs := f.backUp(f.at.address, dest); code != exit.CodeOK {
		t.Fatalf("%d: %s", code, errs)
	}
	manifest := filepath.Join(dest, "manifest.json")
	older, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	f.add(2)
	bad := newLine(t, f.at.address, 250_000)
	fresh := filepath.Join(t.TempDir(), "fresh")
	for _, to := range []string{dest, fresh} {
		code, out, errs := f.backUp(bad.base, to)
		if code != exit.CodeFailure || out != "" || !strings.Contains(errs, "the response is incomplete") || !strings.Contains(errs, "run the command again") {
			t.Errorf("%d: %s%s", code, out, errs)
		}
	}
	if bad.breaks() < 6 { // at least three attempts at one file in each run
		t.Errorf("the line broke only %d times", bad.breaks())
	}
	if now, err := os.ReadFile(manifest); err != nil || !bytes.Equal(now, older) {
		t.Errorf("the older manifest has changed: %v %s", err, now)
	}
	if _, err := os.Stat(filepath.Join(fresh, "manifest.json")); !os.IsNotExist(err) {
		t.Errorf("the incomplete backup has a manifest: %v", err)
	}
	code, out, errs := f.backUp(f.at.address, dest)
	if code != exit.CodeOK || !strings.Contains(out, ": 3 files") {
		t.Errorf("%d: %s%s", code, out, errs)
	}
}

// TestBackupOfDamagedService: a file whose damage is found while it is read is reported as lost.
// The backup contains all other files. The same applies if the service finds the damage and
// truncates its response.
func TestBackupOfDamagedService(t *testing.T) {
	t.Parallel()
	for _, verify := range []string{"false", "true"} {
		t.Run(verify, func(t *testing.T) {
			t.Parallel()
			testDamagedService(t, "--verify-reads="+verify)
		})
	}
}

func testDamagedService(t *testing.T, args ...string) {
	f := newFiles(t, 3, args...)
	path := filepath.Join(f.at.data, "blobs", f.digests[1][:2], f.digests[1])
	content := bytes.Repeat([]byte("b"), 300_000)
	content[299_000] = 'x'
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	dest := t.TempDir()
	code, out, errs := f.backUp(f.at.address, dest)
	if code != exit.CodeDamaged || !strings.Contains(out, f.digests[1]) || !strings.Contains(errs, "1 file is damaged or missing") {
		t.Errorf("%d: %s%s", code, out, errs)
	}
	text, err := os.ReadFile(filepath.Join(dest, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var made backup.Manifest
	if err := json.Unmarshal(text, &made); err != nil || len(made.Damaged) != 1 || made.Damaged[0] != f.digests[1] {
		t.Errorf("lost according to the manifest: %v (%v)", made.Damaged, err)
	}
}
