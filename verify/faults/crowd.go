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

// childCrowd is what the program does as the process of slow and idle clients.
const childCrowd = "child-crowd"

// drip is how often a slow client sends or takes a byte.
const drip = 200 * time.Millisecond

// pace is the time between two idle clients that come or go: a thousand a second. When all come or go at once, two cores that the
// crowd shares with the service do nothing else for seconds, and that is what would be measured.
const pace = time.Millisecond

// takesOver is when a slow reader makes way for another one.
const takesOver = 40 * time.Second

// member is one kind of client in the crowd.
type member struct {
	kind string // "" where it does not learn that it was cut off
	say  string // at once
	then func(net.Conn) error
	cut  atomic.Int64 // how often the service has ended its connection
}

// crowdChild connects slow and idle clients and keeps them connected until its input ends: the address, a file with the key, the
// path of a large file, the number of idle clients.
func crowdChild(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		leave()
	}()
	if err := crowdAround(ctx, args, stdout); err != nil {
		_, _ = fmt.Fprintln(stderr, "crowd:", err)
		return 1
	}
	return 0
}

func crowdAround(ctx context.Context, args []string, stdout io.Writer) error {
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
	crowd := members(args[0], strings.TrimSpace(string(key)), args[2])
	var clients sync.WaitGroup
	arrived := make(chan error, len(crowd)*attackers+idle)
	for _, m := range crowd {
		for range attackers {
			clients.Go(func() { m.stay(ctx, args[0], 0, arrived) })
		}
	}
	still := &member{say: "GET /v1/status HTTP/1.1\r\nHost: " + args[0] + "\r\n\r\n", then: wait} // and kept alive
	for i, begun := 0, time.Now(); i < idle; i++ {
		turn := time.Duration(i) * pace
		time.Sleep(time.Until(begun.Add(turn)))
		clients.Go(func() { still.stay(ctx, args[0], turn, arrived) })
	}
	for range cap(arrived) {
		err = errors.Join(err, <-arrived)
	}
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(stdout, "gathered")
	clients.Wait()
	for _, m := range crowd {
		if m.kind == "" {
			continue
		}
		_, _ = fmt.Fprintf(stdout, "%s: %d\n", m.kind, m.cut.Load())
	}
	return nil
}

// members are the slow kinds.
func members(address, key, path string) []*member {
	head := " HTTP/1.1\r\nHost: " + address + "\r\nAuthorization: " + key + "\r\n"
	body := "POST /v1/resources" + head + "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n"
	return []*member{
		{kind: "slow headers cut off", say: "GET /v1/resources HTTP/1.1\r\nX-Slow: ", then: dripOut},
		{kind: "stalled bodies cut off", say: body, then: wait},
		{kind: "dripping bodies cut off", say: body, then: dripOut},
		{say: "GET " + path + head + "\r\n", then: dripIn},
	}
}

// stay keeps one client connected, as often as it is cut off, until so long after the end of ctx. arrived hears of the first time.
func (m *member) stay(ctx context.Context, address string, lingers time.Duration, arrived chan<- error) {
	for first := true; ctx.Err() == nil; first = false {
		conn, err := (&net.Dialer{Timeout: 30 * time.Second}).DialContext(ctx, "tcp", address)
		if err == nil {
			_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10) // a slow reader must not have much on the way
			_, err = io.WriteString(conn, m.say)
		}
		if first {
			arrived <- err
		}
		if err != nil {
			time.Sleep(drip)
			continue
		}
		stop := context.AfterFunc(ctx, func() {
			time.Sleep(lingers)
			_ = conn.Close()
		})
		_ = m.then(conn) // returns when the connection has ended
		if stop() {
			m.cut.Add(1)
			_ = conn.Close()
		}
	}
}

// wait takes what comes, and sends nothing.
func wait(conn net.Conn) error {
	_, err := io.Copy(io.Discard, conn)
	return err
}

// dripOut sends a byte now and then.
func dripOut(conn net.Conn) error {
	ended := make(chan error, 1)
	go func() { ended <- wait(conn) }()
	for {
		select {
		case err := <-ended:
			return err
		case <-time.After(drip):
		}
		if _, err := conn.Write([]byte("x")); err != nil {
			return err
		}
	}
}

// dripIn takes a byte now and then, until another one takes its place. What was on the way when it was cut off would last it for
// hours.
func dripIn(conn net.Conn) error {
	for begun := time.Now(); time.Since(begun) < takesOver; time.Sleep(drip) {
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			return err
		}
	}
	return nil
}

// attackers is how many there are of each kind of slow client; of the idle ones there are as many as the row's size says.
const attackers = 50
