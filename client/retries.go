package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"labshelf/auth/errs"
)

// Retries controls how often, and after which time, a call is repeated that failed for a transient
// reason: the connection broke, or the response was 429, 502, 503, 504, or 409 with the code
// "busy". Only safe calls are repeated. A call without a response that may have been executed is
// repeated only if it is idempotent, and a body only if it can be read again from its start. The
// zero value is the default of a new Client.
type Retries struct {
	Tries   int           // greatest number of attempts, including the first; 1: no retries; 0: 5
	First   time.Duration // the wait before the second attempt, doubled before each further one; a random part of up to half of it is subtracted; 0: 500 ms
	Longest time.Duration // the longest wait. If a service demands a longer one (Retry-After), the call fails; 0: 30 s

	// Wait waits, and ends early with the error of the context. nil: use the clock.
	Wait func(ctx context.Context, d time.Duration) error
}

// WithRetries returns a client that uses these retries, and shares its connections with c.
func (c *Client) WithRetries(r Retries) *Client {
	shared := *c.http
	if t, ok := shared.Transport.(retrying); ok {
		shared.Transport = t.RoundTripper
	}
	shared.Transport = retrying{shared.Transport, r}
	return newClient(&caller{base: c.base, key: c.key, http: &shared, elsewhere: c.elsewhere})
}

// retrying carries the Retries of a client with its connections.
type retrying struct {
	http.RoundTripper
	retries Retries
}

// CloseIdleConnections is called by http.Client.
func (t retrying) CloseIdleConnections() {
	if closer, ok := t.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

func (c *caller) retries() Retries {
	r := Retries{}
	if t, ok := c.http.Transport.(retrying); ok {
		r = t.retries
	}
	r.Tries = cmp.Or(r.Tries, 5)
	r.First = cmp.Or(r.First, 500*time.Millisecond)
	r.Longest = cmp.Or(r.Longest, 30*time.Second)
	if r.Wait == nil {
		r.Wait = wait
	}
	return r
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pause returns the wait after an attempt; the first attempt is 1.
func (r Retries) pause(try int) time.Duration {
	d := min(r.First, r.Longest)
	for range try - 1 {
		d = min(2*d, r.Longest)
	}
	return d/2 + rand.N(d/2+1)
}

// retryAfter returns the delay that the service demands, or 0.
func retryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// verdict says whether a failed attempt may be repeated.
type verdict uint8

const (
	final  verdict = iota // it would fail again
	undone                // the service has done nothing; it may be repeated
	doubt                 // the service may have done it
)

// failure is the failure of an attempt.
type failure struct {
	verdict
	error
	response *http.Response // its body is closed; nil: no response arrived
}

// unanswered returns the failure of an attempt without a response.
func (c *caller) unanswered(ctx context.Context, err error, sent *sending) *failure {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	if ctx.Err() != nil && errors.Is(err, errEnded) { // the body noticed the end first
		err = ctx.Err()
	}
	if wrong := sent.failed(); wrong != nil {
		return &failure{verdict: final, error: fmt.Errorf("the file to be sent cannot be read: %w", wrong)}
	}
	err = fmt.Errorf("%s does not answer: %w", c.base, err)
	var dial *net.OpError
	var unknown *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case ctx.Err() != nil, errors.As(err, &unknown) && unknown.IsNotFound, errors.As(err, &certificate), errors.Is(err, http.ErrSchemeMismatch):
		return &failure{verdict: final, error: err}
	case errors.As(err, &dial) && dial.Op == "dial", sent != nil && !sent.whole():
		return &failure{verdict: undone, error: err}
	}
	return &failure{verdict: doubt, error: err}
}

// refused returns the failure for an error response. A proxy's response does not show whether the
// service handled the request, except for 429.
func refused(response *http.Response) *failure {
	if response.StatusCode == http.StatusNotModified {
		return &failure{final, errors.Join(ErrNotModified, response.Body.Close()), response}
	}
	problem := problemOf(response)
	failed := &failure{final, errors.Join(problem, response.Body.Close()), response}
	switch {
	case problem.Status == http.StatusTooManyRequests, problem.Code == errs.CodeBusy,
		problem.Status == http.StatusServiceUnavailable && problem.Code != "":
		failed.verdict = undone
	case slices.Contains(gatewayStatuses, problem.Status):
		failed.verdict = doubt
	}
	return failed
}
