package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The limits of these tests. They differ so much from the rates of the clients that a busy machine
// cannot make a fast client look slow.
const (
	slowStall = 2 * time.Second
	slowRate  = 192 << 10 // bytes per second
	slowSize  = 24 << 20  // of the file; larger than all buffers on the path together
)

// caller uses a service through one protocol.
type caller struct {
	t         *testing.T
	at        started
	log       *output
	client    *http.Client
	set, file string // paths
}

// newCaller starts a service with a set and a large file.
func newCaller(t *testing.T, secure bool) *caller {
	t.Helper()
	c := &caller{t: t, log: &output{}}
	args := []string{"--stall-timeout", slowStall.String(), "--min-rate", fmt.Sprint(slowRate)}
	var pool *x509.CertPool
	if secure {
		var cert, key string
		cert, key, pool = certificate(t)
		args = append(args, "--tls-cert", cert, "--tls-key", key)
	}
	c.at, _ = start(t, c.log, args...)
	c.client = newClient(pool)
	t.Cleanup(c.client.CloseIdleConnections)
	space := c.call("POST", "/dataspaces", `{"name": "slow"}`)["id"]
	c.set = c.call("POST", "/sets", fmt.Sprintf(`{"name": "slow", "dataspaceId": %q}`, space))["id"].(string)
	head, tail, kind := c.upload()
	got := c.exchange("POST", "/resources", io.MultiReader(strings.NewReader(head), bytes.NewReader(make([]byte, slowSize)), strings.NewReader(tail)), kind)
	c.file = "/resources/" + c.object(got)["id"].(string) + "/data"
	return c
}

// upload returns the bytes before and after the content in an upload, and the content type.
func (c *caller) upload() (head, tail, contentType string) {
	c.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	err := form.WriteField("setId", c.set)
	_, err2 := form.CreateFormFile("file", "zeros")
	head = body.String()
	if err := errors.Join(err, err2, form.Close()); err != nil {
		c.t.Fatal(err)
	}
	return head, body.String()[len(head):], form.FormDataContentType()
}

func (c *caller) call(method, path, body string) map[string]any {
	c.t.Helper()
	return c.object(c.exchange(method, path, strings.NewReader(body), "application/json"))
}

func (c *caller) object(response *http.Response) (object map[string]any) {
	c.t.Helper()
	text, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close(), json.Unmarshal(text, &object)); err != nil || response.StatusCode >= 300 {
		c.t.Fatalf("%d %v %s", response.StatusCode, err, text)
	}
	return object
}

// try sends a request, which the service may cut off.
func (c *caller) try(method, path string, body io.Reader, contentType string) (*http.Response, error) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.at.address+path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", c.at.firstKey)
	request.Header.Set("Content-Type", contentType)
	return c.client.Do(request)
}

func (c *caller) exchange(method, path string, body io.Reader, contentType string) *http.Response {
	c.t.Helper()
	response, err := c.try(method, path, body, contentType)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return response
}

// newClient returns a client of HTTP/1.1 or, with a pool of certificates, HTTP/2. It has a small
// receive buffer.
func newClient(pool *x509.CertPool) *http.Client {
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return conn, conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	}
	transport := &http.Transport{DialContext: dial}
	if pool != nil {
		transport.TLSClientConfig, transport.ForceAttemptHTTP2 = &tls.Config{RootCAs: pool}, true
	}
	return &http.Client{Transport: transport}
}

// throttled is a stream that is fast up to a point, then slow for a time, and then fast again.
// While it is slow, it follows a schedule: after a delay of the machine, it catches up.
type throttled struct {
	io.Reader
	fast  int64         // bytes
	slow  time.Duration // 0 means forever
	rate  float64       // bytes per second, while it is slow
	unit  int           // bytes at a time, while it is slow
	began time.Time
	bytes int64
	last  time.Time    // end of the last read
	pause atomic.Int64 // the longest time between two reads; a transport may continue to read after the response
}

func (p *throttled) Read(b []byte) (int, error) {
	if p.bytes >= p.fast && p.began.IsZero() {
		p.began, p.fast = time.Now(), p.bytes
	}
	if p.bytes >= p.fast && (p.slow == 0 || time.Since(p.began) < p.slow) {
		time.Sleep(time.Until(p.began.Add(time.Duration(float64(p.bytes-p.fast) / p.rate * float64(time.Second)))))
		b = b[:min(len(b), p.unit)]
	}
	n, err := p.Reader.Read(b)
	p.bytes += int64(n)
	now := time.Now()
	if !p.last.IsZero() {
		p.pause.Store(max(p.pause.Load(), int64(now.Sub(p.last))))
	}
	p.last = now
	return n, err
}

// drip is much too slow: it reads one byte now and then. steady has twice the minimum rate, for
// longer than a stalled client is allowed.
func drip(r io.Reader) *throttled { return &throttled{Reader: r, fast: 1 << 10, rate: 5, unit: 1} }

func steady(r io.Reader) *throttled {
	return &throttled{Reader: r, fast: 8 << 20, slow: 5 * slowStall / 2, rate: 2 * slowRate, unit: slowRate / 16}
}

// TestSlowClientsAreCutOff: a client far below the minimum rate is cut off after about the same
// time as a stalled client. A client above the rate is served to the end, however large the file
// and the buffers are.
func TestSlowClientsAreCutOff(t *testing.T) {
	t.Parallel()
	for name, secure := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCaller(t, secure)
			t.Run("all", func(t *testing.T) {
				for what, test := range map[string]func(*caller){
					"drip up": testDripUp, "drip down": testDripDown, "steady up": testSteadyUp, "steady down": testSteadyDown,
				} {
					t.Run(what, func(t *testing.T) {
						t.Parallel()
						own := *c
						own.t, own.client = t, &http.Client{Transport: c.client.Transport.(*http.Transport).Clone()}
						t.Cleanup(own.client.CloseIdleConnections)
						test(&own)
					})
				}
			})
			status := c.exchange("GET", "/status", nil, "")
			if status.Proto != name || status.Body.Close() != nil {
				t.Errorf("that was %s", status.Proto)
			}
		})
	}
}

// notEarly fails the test if the service has cut off the client before the limit for a stalled
// client. The maximum time is not tested here, because a busy machine is slow. The tests of
// slowclient measure it with their own clock.
func (c *caller) notEarly(started time.Time) {
	c.t.Helper()
	if took := time.Since(started); took < slowStall/2 {
		c.t.Errorf("cut off after %v", took)
	}
}

func testDripUp(c *caller) {
	head, _, kind := c.upload()
	started := time.Now()
	response := c.exchange("POST", "/resources", drip(io.MultiReader(strings.NewReader(head), bytes.NewReader(make([]byte, slowSize)))), kind)
	c.notEarly(started)
	if response.StatusCode != http.StatusRequestTimeout || response.Body.Close() != nil {
		c.t.Errorf("status %d", response.StatusCode)
	}
}

func testDripDown(c *caller) {
	response := c.exchange("GET", c.file, nil, "")
	defer func() { _ = response.Body.Close() }()
	started := time.Now()
	received := make(chan int64, 1)
	go func() {
		// the error is that the body is closed below, or that the service closed the connection
		n, _ := io.Copy(io.Discard, drip(response.Body))
		received <- n
	}()
	if err := c.log.await(c.t.Context(), response.Header.Get("X-Request-Id")); err != nil {
		c.t.Fatal(err)
	}
	c.notEarly(started)
	_ = response.Body.Close()
	if n := <-received; n >= slowSize {
		c.t.Errorf("received %d bytes", n)
	}
}

// steadily sends or receives a fast enough stream. It tries again if the machine has paused the
// client for a long time, because the service may cut off a paused client as stalled.
func (c *caller) steadily(once func() (*throttled, error)) {
	c.t.Helper()
	for range 10 {
		stream, err := once()
		pause := time.Duration(stream.pause.Load())
		if err == nil || pause < slowStall/4 {
			if err != nil {
				c.t.Error(err)
			}
			return
		}
		c.t.Logf("%v, after a pause of %v: trying again", err, pause)
	}
	c.t.Error("this machine is too busy to keep a rate")
}

func testSteadyUp(c *caller) {
	head, tail, kind := c.upload()
	c.steadily(func() (*throttled, error) {
		content := steady(io.MultiReader(strings.NewReader(head), bytes.NewReader(make([]byte, slowSize)), strings.NewReader(tail)))
		started := time.Now()
		response, err := c.try("POST", "/resources", content, kind)
		if err != nil {
			return content, err
		}
		var made struct{ Bytes int64 }
		err = errors.Join(json.NewDecoder(response.Body).Decode(&made), response.Body.Close())
		if took := time.Since(started); response.StatusCode != http.StatusCreated || made.Bytes != slowSize || took < 2*slowStall {
			err = errors.Join(err, fmt.Errorf("status %d, %d bytes in %v", response.StatusCode, made.Bytes, took))
		}
		return content, err
	})
}

func testSteadyDown(c *caller) {
	c.steadily(func() (*throttled, error) {
		response := c.exchange("GET", c.file, nil, "")
		content := steady(response.Body)
		started := time.Now()
		n, err := io.Copy(io.Discard, content)
		err = errors.Join(err, response.Body.Close())
		if took := time.Since(started); n != slowSize || took < 2*slowStall {
			err = errors.Join(err, fmt.Errorf("%d bytes in %v", n, took))
		}
		return content, err
	})
}

// TestSlowHeaderIsCutOff: a request header that takes too long is cut off, even if bytes keep
// arriving.
func TestSlowHeaderIsCutOff(t *testing.T) {
	t.Parallel()
	const limit = 2 * time.Second
	at, _ := start(t, io.Discard, "--stall-timeout", limit.String())
	address := strings.TrimSuffix(strings.TrimPrefix(at.address, "http://"), "/v1")
	started := time.Now()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	answer := make(chan error, 1)
	go func() {
		_, err := http.ReadResponse(bufio.NewReader(conn), nil)
		answer <- err
	}()
	const header = "GET /v1/status HTTP/1.1\r\nHost: localhost\r\nX-Slow: and on it goes, and on, and on, and on, and on"
	for i := 0; ; i++ {
		select {
		case err := <-answer:
			if took := time.Since(started); took < limit/2 {
				t.Errorf("cut off after %v: %v", took, err)
			}
			return
		case <-time.After(200 * time.Millisecond):
			_, _ = fmt.Fprint(conn, header[i%len(header):i%len(header)+1]) // the connection may be cut off already
		}
	}
}
