//go:build linux || darwin

package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"labshelf/cli/process"
)

// TestServesBeyondDescriptors: with more connections than descriptors, the service continues to
// serve the open connections, including files and the database. It accepts the others when some
// connections are closed.
func TestServesBeyondDescriptors(t *testing.T) {
	t.Parallel()
	const descriptors, crowd = 160, 200
	dir := t.TempDir()
	errPath := filepath.Join(dir, "err")
	command := exec.Command("sh", "-c", fmt.Sprintf("ulimit -n %d && exec %s serve --listen 127.0.0.1:0 --data data --metrics sysadmin 2>err", descriptors, process.Program))
	command.Dir = dir
	command.Env = append(os.Environ(), "LABSHELF_ADMIN_KEY="+strings.Repeat("k", 40))
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	address := ""
	for address == "" && lines.Scan() {
		if _, after, ok := strings.Cut(lines.Text(), "http://"); ok {
			address, _, _ = strings.Cut(after, "/")
		}
	}
	ended := make(chan error, 1)
	go func() {
		_, _ = io.Copy(io.Discard, out) // the rest of the output fits into the pipe
		ended <- command.Wait()
	}()
	defer func() {
		if err := command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile(errPath); err != nil || strings.Contains(string(text), `"level":"error"`) || strings.Contains(string(text), "too many") {
			t.Errorf("%v\n%s", err, text)
		}
	}()
	if address == "" {
		t.Fatal("the service does not start")
	}
	early := &caller{t: t, at: started{address: "http://" + address + "/v1", firstKey: strings.Repeat("k", 40)}, client: newClient(nil)}
	defer early.client.CloseIdleConnections()
	space := early.call("POST", "/dataspaces", `{"name": "flood"}`)["id"] // and keep this connection

	var others []net.Conn
	for range crowd {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		others = append(others, conn)
	}
	flooded := time.Now()
	root := *early
	root.at.address = "http://" + address
	for full := false; !full; { // connects until the limit of accepted connections
		metrics := root.exchange("GET", "/metrics", nil, "")
		text, err := io.ReadAll(metrics.Body)
		if err := errors.Join(err, metrics.Body.Close()); err != nil || metrics.StatusCode != http.StatusOK {
			t.Fatal(metrics.StatusCode, err)
		}
		full = strings.Contains(string(text), fmt.Sprintf("\nlabshelf_http_connections %d\n", descriptors-64))
	}
	late := make(chan error, 1)
	go func() {
		client := newClient(nil)
		defer client.CloseIdleConnections()
		response, err := client.Get("http://" + address + "/v1/status")
		if err == nil && response.StatusCode != http.StatusOK {
			err = fmt.Errorf("status %d", response.StatusCode)
		}
		if err == nil {
			err = response.Body.Close()
		}
		late <- err
	}()
	for i := range 20 {
		early.call("POST", "/sets", fmt.Sprintf(`{"name": "flood-%d", "dataspaceId": %q}`, i, space))
	}
	if len(late) > 0 && time.Since(flooded) < headerTimeout { // silent connections are closed after this time
		t.Error("a connection beyond the limit was served")
	}
	for _, conn := range others {
		_ = conn.Close() // no data were sent
	}
	if err := <-late; err != nil {
		t.Error(err)
	}
}
