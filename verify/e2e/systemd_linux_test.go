package e2e

import (
	"net"
	"path/filepath"
	"testing"
	"time"
)

// TestServiceNotifiesSystemd tests that the service notifies systemd when it is ready
// (sd_notify(3)), as a unit with Type=notify requires.
func TestServiceNotifiesSystemd(t *testing.T) {
	folder := t.TempDir()
	address := &net.UnixAddr{Name: filepath.Join(folder, "notify"), Net: "unixgram"}
	manager, err := net.ListenUnixgram("unixgram", address)
	check(t, err)
	defer func() { _ = manager.Close() }()
	t.Setenv("NOTIFY_SOCKET", address.Name)
	serve(t, filepath.Join(folder, "data"))
	check(t, manager.SetReadDeadline(time.Now().Add(time.Minute))) // otherwise a missing message would block the whole package
	said := make([]byte, 100)
	n, err := manager.Read(said)
	check(t, err)
	if string(said[:n]) != "READY=1" {
		t.Errorf("the service sent %q", said[:n])
	}
}
