package listener

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// TestUnacknowledgedBytes writes to a client that does not read, then reads.
func TestUnacknowledgedBytes(t *testing.T) {
	t.Parallel()
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := limit(plain, 1)
	defer func() { _ = listener.Close() }()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	line := conn.(*Conn)
	unacknowledged := func() int64 {
		t.Helper()
		bytes, err := line.Unacknowledged()
		if err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	fill := func() (written int64) {
		t.Helper()
		if err := conn.SetWriteDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		for {
			n, err := conn.Write(make([]byte, 16<<10))
			written += int64(n)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return written
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	little := fill()
	line.BufferUnsent(true)
	more := fill()
	if unsent := unacknowledged(); more < maxUnsent || unsent < more || unsent > little+more {
		t.Errorf("sent %d and %d bytes, of which %d are buffered", little, more, unsent)
	}
	if _, err := io.CopyN(io.Discard, client, little+more); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Second); unacknowledged() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are reported as unacknowledged, although they have arrived", unacknowledged())
		}
	}
}
