package listener

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// TestCorkedWritesArriveTogether: the writes between Cork and Uncork arrive together or not at all.
func TestCorkedWritesArriveTogether(t *testing.T) {
	t.Parallel()
	listener, err := Listen("127.0.0.1:0", "listen", 4)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	conn := accepted.(*Conn)
	write := func(text string) {
		t.Helper()
		if n, err := conn.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
	}
	room := make([]byte, 0, 4)
	for range 2 {
		write("at once ")
		conn.Cork(room)
		write("head ")
		write("body")
		got := make([]byte, 100)
		if n, err := io.ReadFull(client, got[:8]); string(got[:n]) != "at once " || err != nil {
			t.Fatalf("%q, %v", got[:n], err)
		}
		if err := client.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if n, err := client.Read(got); n > 0 {
			t.Fatalf("%q arrived early, %v", got[:n], err)
		}
		if err := errors.Join(client.SetReadDeadline(time.Time{}), conn.Uncork()); err != nil {
			t.Fatal(err)
		}
		if n, err := client.Read(got); string(got[:n]) != "head body" || err != nil {
			t.Fatalf("%q, %v", got[:n], err)
		}
	}
	conn.Cork(room)
	write("too late")
	if err := conn.SetWriteDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := conn.Uncork(); err == nil {
		t.Error("no error for bytes that could not be sent")
	}
	if rest, err := io.ReadAll(client); len(rest) > 0 || err != nil {
		t.Errorf("the connection is not closed: %q, %v", rest, err)
	}
	if listener.Count() != 0 {
		t.Error("the connection still counts")
	}
}
