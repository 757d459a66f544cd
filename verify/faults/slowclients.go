package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// childSlow is the argument for the child process of slow and idle clients.
const childSlow = "child-slow"

// byteInterval is the interval in which a slow client sends or reads a byte.
const byteInterval = 200 * time.Millisecond

// idleInterval is the time between the connections, and between the disconnections, of two idle
// clients: a thousand per second. If all connected at the same time, the two cores, which are
// shared with the service, would be busy for seconds, and this would be measured.
const idleInterval = time.Millisecond

// readerLifetime is the time after which another slow reader replaces a slow reader.
const readerLifetime = 40 * time.Second

// member is a kind of slow client.
type member struct {
	kind string // "" if the client does not notice a disconnection
	say  string // sent immediately
	then func(net.Conn) error
	cut  atomic.Int64 // number of disconnections by the service
}

// slowChild connects slow and idle clients and keeps them connected until its input ends. Its
// arguments are the address, a file with the key, the path of a large file, and the number of idle
// clients.
func slowChild(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		leave()
	}()
	if err := runSlowClients(ctx, args, stdout); err != nil {
		_, _ = fmt.Fprintln(stderr, "slow clients:", err)
		return 1
	}
	return 0
}

func runSlowClients(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) != 4 {
		return errors.New("want ADDRESS KEYFILE PATH NUMBER")
	}
	key, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	idle, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	slowClients := members(args[0], strings.TrimSpace(string(key)), args[2])
	var clients sync.WaitGroup
	arrived := make(chan error, len(slowClients)*slowPerKind+idle)
	for _, m := range slowClients {
		for range slowPerKind {
			clients.Go(func() { m.stay(ctx, args[0], 0, arrived) })
		}
	}
	still := &member{say: "GET /v1/status HTTP/1.1\r\nHost: " + args[0] + "\r\n\r\n", then: wait} // the connection is kept alive
	for i, begun := 0, time.Now(); i < idle; i++ {
		delay := time.Duration(i) * idleInterval
		time.Sleep(time.Until(begun.Add(delay)))
		clients.Go(func() { still.stay(ctx, args[0], delay, arrived) })
	}
	for range cap(arrived) {
		err = errors.Join(err, <-arrived)
	}
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(stdout, "connected")
	clients.Wait()
	for _, m := range slowClients {
		if m.kind == "" {
			continue
		}
		_, _ = fmt.Fprintf(stdout, "%s: %d\n", m.kind, m.cut.Load())
	}
	return nil
}

// members returns the kinds of slow clients.
func members(address, key, path string) []*member {
	head := " HTTP/1.1\r\nHost: " + address + "\r\nAuthorization: " + key + "\r\n"
	body := "POST /v1/resources" + head + "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n"
	return []*member{
		{kind: "slow headers cut off", say: "GET /v1/resources HTTP/1.1\r\nX-Slow: ", then: sendSlowly},
		{kind: "stalled bodies cut off", say: body, then: wait},
		{kind: "dripping bodies cut off", say: body, then: sendSlowly},
		{say: "GET " + path + head + "\r\n", then: readSlowly},
	}
}

// stay keeps one client connected until delay after the end of ctx. It reconnects after each
// disconnection. It sends the result of the first attempt to arrived.
func (m *member) stay(ctx context.Context, address string, delay time.Duration, arrived chan<- error) {
	for first := true; ctx.Err() == nil; first = false {
		conn, err := (&net.Dialer{Timeout: 30 * time.Second}).DialContext(ctx, "tcp", address)
		if err == nil {
			_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10) // keeps few bytes in flight to a slow reader
			_, err = io.WriteString(conn, m.say)
		}
		if first {
			arrived <- err
		}
		if err != nil {
			time.Sleep(byteInterval)
			continue
		}
		stop := context.AfterFunc(ctx, func() {
			time.Sleep(delay)
			_ = conn.Close()
		})
		_ = m.then(conn) // returns when the connection ends
		if stop() {
			m.cut.Add(1)
			_ = conn.Close()
		}
	}
}

// wait reads all bytes and sends nothing.
func wait(conn net.Conn) error {
	_, err := io.Copy(io.Discard, conn)
	return err
}

// sendSlowly sends a byte per byteInterval.
func sendSlowly(conn net.Conn) error {
	ended := make(chan error, 1)
	go func() { ended <- wait(conn) }()
	for {
		select {
		case err := <-ended:
			return err
		case <-time.After(byteInterval):
		}
		if _, err := conn.Write([]byte("x")); err != nil {
			return err
		}
	}
}

// readSlowly reads a byte per byteInterval for readerLifetime. It would not notice a disconnection
// for hours, because of the bytes in flight.
func readSlowly(conn net.Conn) error {
	for begun := time.Now(); time.Since(begun) < readerLifetime; time.Sleep(byteInterval) {
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			return err
		}
	}
	return nil
}

// slowPerKind is the number of clients of each slow kind. The number of idle clients is the size of
// the row.
const slowPerKind = 50
