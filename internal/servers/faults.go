package servers

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"
)

// Fault is the fault that Faults applies to one request. The zero Fault does nothing. Several
// fields can be combined.
type Fault struct {
	Status int  // responds with this status, such as 500 or 503, instead of forwarding the request
	Done   bool // with Status: forwards the request, and replaces its response

	Delay time.Duration // delays everything else
	Rate  int           // approximate bytes per second of the response body; 0 means unlimited

	CutRequest *int64 // breaks both connections after this many bytes of the request body
	CutAnswer  *int64 // breaks the connection to the client after this many bytes of the response body

	Header map[string]string // replaces response headers, such as an ETag, a checksum or a length; "" removes one
	Flip   *int64            // inverts the bits of one byte of the response body
}

// At returns a pointer to a number of bytes, for the fields of Fault.
func At(n int64) *int64 { return &n }

// Faults is a proxy in front of an S3 server. It forwards requests, except the ones that a rule
// selects. Clients sign requests for the address of Faults. It keeps that address, so that the
// signature stays valid. It is safe for concurrent use.
type Faults struct {
	server *http.Server
	addr   string

	mu       sync.Mutex
	rule     func(*http.Request) Fault
	requests int
	faults   int
}

// NewFaults starts the proxy on a free loopback port, in front of the server at a URL.
func NewFaults(endpoint string) (*Faults, error) {
	target, err := url.Parse(endpoint)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression, transport.Proxy = true, nil
	f := &Faults{addr: listener.Addr().String()}
	proxy := &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
		},
		ModifyResponse: func(answer *http.Response) error {
			return answer.Request.Context().Value(faultKey{}).(Fault).spoil(answer)
		},
		// breaks the connection, as the server itself would
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	f.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.serve(w, r, proxy) })}
	f.server.RegisterOnShutdown(transport.CloseIdleConnections)
	go func() { _ = f.server.Serve(listener) }() // ends with Close
	return f, nil
}

// StartFaults is like NewFaults, and closes the proxy when the test ends.
func StartFaults(tb testing.TB, s *S3) *Faults {
	tb.Helper()
	f, err := NewFaults(s.Endpoint())
	need(tb, err)
	closing(tb, f)
	return f
}

// Endpoint returns the URL of the proxy.
func (f *Faults) Endpoint() string { return "http://" + f.addr }

// Rule sets the function that selects faults for later requests. With nil, requests have no faults.
// The function is called once per request, by one goroutine at a time. It must not read the body,
// and must not call methods of f.
func (f *Faults) Rule(rule func(*http.Request) Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rule = rule
}

// Next applies a fault to the next n matching requests, or to the next n requests if match is nil.
// Later requests are forwarded.
func (f *Faults) Next(n int, fault Fault, match func(*http.Request) bool) {
	f.Rule(func(r *http.Request) Fault {
		if n == 0 || match != nil && !match(r) {
			return Fault{}
		}
		n--
		return fault
	})
}

// Count returns the number of requests, and the number of requests with a fault.
func (f *Faults) Count() (requests, spoiled int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests, f.faults
}

// Close breaks all connections.
func (f *Faults) Close() error { return f.server.Close() }

// faultKey is the context key of a request's Fault.
type faultKey struct{}

func (f *Faults) decide(r *http.Request) (fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	if f.rule != nil {
		fault = f.rule(r)
	}
	if !fault.none() {
		f.faults++
	}
	return fault
}

func (f Fault) none() bool {
	return f.Status == 0 && f.Delay == 0 && f.Rate == 0 && f.CutRequest == nil && f.CutAnswer == nil && f.Header == nil && f.Flip == nil
}

func (f *Faults) serve(w http.ResponseWriter, r *http.Request, proxy http.Handler) {
	fault := f.decide(r)
	select {
	case <-time.After(fault.Delay):
	case <-r.Context().Done():
		return
	}
	if fault.CutRequest != nil {
		r.Body = &cutBody{ReadCloser: r.Body, left: *fault.CutRequest}
	}
	if fault.Status != 0 && !fault.Done {
		_, _ = io.Copy(io.Discard, r.Body) // like a server that has received everything, but cannot store it
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(fault.Status)
		_, _ = io.WriteString(w, problem(fault.Status))
		return
	}
	proxy.ServeHTTP(w, r.WithContext(withFault(r, fault)))
}

// problem returns the body of an S3 error response.
func problem(status int) string {
	code := map[int]string{http.StatusInternalServerError: "InternalError", http.StatusServiceUnavailable: "SlowDown"}[status]
	if code == "" {
		code = "Fault"
	}
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>a fault on purpose</Message></Error>`, code)
}

// spoil applies the fault to a response.
func (f Fault) spoil(answer *http.Response) error {
	if f.Status != 0 {
		text := []byte(problem(f.Status))
		err := answer.Body.Close()
		answer.StatusCode, answer.Body, answer.ContentLength = f.Status, io.NopCloser(bytes.NewReader(text)), int64(len(text))
		answer.Header = http.Header{"Content-Type": {"application/xml"}, "Content-Length": {fmt.Sprint(len(text))}}
		return err
	}
	for name, value := range f.Header {
		answer.Header.Del(name)
		if value != "" {
			answer.Header.Set(name, value)
		}
	}
	if f.CutAnswer != nil || f.Flip != nil || f.Rate > 0 {
		answer.Body = &spoiledBody{ReadCloser: answer.Body, fault: f}
	}
	return nil
}
