//go:build linux || darwin

package cli

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFlood: with more connections than there are descriptors for, the service goes on for those that are in, files and the
// database included, and for the others when there is room.
func TestFlood(t *testing.T) {
	t.Parallel()
	const descriptors, crowd = 160, 200
	dir := t.TempDir()
	outPath, errPath := filepath.Join(dir, "out"), filepath.Join(dir, "err")
	command := exec.Command("sh", "-c", fmt.Sprintf("ulimit -n %d && exec %s serve --listen 127.0.0.1:0 --data data >out 2>err", descriptors, program))
	command.Dir = dir
	command.Env = append(os.Environ(), "LABSHELF_ADMIN_KEY="+strings.Repeat("k", 40))
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
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
	address := ""
	for deadline := time.Now().Add(patience); address == ""; time.Sleep(5 * time.Millisecond) {
		text, _ := os.ReadFile(outPath) // it comes
		if _, after, ok := strings.Cut(string(text), "http://"); ok {
			address, _, _ = strings.Cut(after, "/")
		}
		if time.Now().After(deadline) || len(ended) > 0 {
			t.Fatalf("it does not start: %s", text)
		}
	}
	early := &caller{t: t, at: started{address: "http://" + address + "/v1", firstKey: strings.Repeat("k", 40)}, client: newClient(nil)}
	defer early.client.CloseIdleConnections()
	space := early.call("POST", "/dataspaces", `{"name": "flood"}`)["id"] // and this connection stays

	var others []net.Conn
	for range crowd {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		others = append(others, conn)
	}
	flooded := time.Now()
	time.Sleep(200 * time.Millisecond) // so that they are let in, as many as may
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
	select {
	case err := <-late:
		if time.Since(flooded) < headerTimeout { // then those who say nothing have to leave
			t.Errorf("a full house let somebody in: %v", err)
		}
		late <- err
	case <-time.After(200 * time.Millisecond):
	}
	for i := range 20 {
		early.call("POST", "/sets", fmt.Sprintf(`{"name": "flood-%d", "dataspaceId": %q}`, i, space))
	}
	for _, conn := range others {
		_ = conn.Close() // nothing was sent
	}
	if err := <-late; err != nil {
		t.Error(err)
	}
}
