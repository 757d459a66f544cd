package webhooks

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	timeout       = 15 * time.Second
	resolveWithin = 5 * time.Second
	maxAnswer     = 64 << 10 // maximum bytes read of a response
	maxBeginning  = 1 << 10  // maximum bytes kept of a response
	maxURL        = 2048
	maxError      = 300
)

// Config holds the operator's settings for messages.
type Config struct {
	Hosts     Hosts
	UserAgent string        // "" means labshelf
	Timeout   time.Duration // of one try, with name resolution; 0 means 15 seconds
	Resolver  *net.Resolver // nil for the system resolver
}

// Sender sends messages. It is safe for concurrent use.
type Sender struct {
	config Config
	client *http.Client
}

// NewSender returns a Sender. The caller must close it.
func NewSender(c Config) *Sender {
	if c.Resolver == nil {
		c.Resolver = net.DefaultResolver
	}
	c.UserAgent, c.Timeout = cmp.Or(c.UserAgent, "labshelf"), cmp.Or(c.Timeout, timeout)
	s := &Sender{config: c}
	s.client = &http.Client{
		Transport: &http.Transport{
			DialContext: s.dial, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute,
			MaxResponseHeaderBytes: maxAnswer, DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s
}

// Close closes idle connections.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// dial connects to a host, at one of its addresses that the allow-list permits.
func (s *Sender) dial(ctx context.Context, network, hostPort string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{
		Resolver: s.config.Resolver,
		Control: func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("%w: %s is not an address", ErrRefused, address)
			}
			return s.config.Hosts.address(host, at.Addr())
		},
	}
	return dialer.DialContext(ctx, network, hostPort)
}

// CheckURL returns an error if no message can be sent to a URL. Errors that wrap ErrRefused name
// the setting to change. A name that cannot be resolved now is accepted if the list contains the
// name itself.
func (s *Sender) CheckURL(ctx context.Context, text string) error {
	u, err := url.Parse(text)
	switch {
	case len(text) > maxURL:
		return fmt.Errorf("it may have up to %d bytes", maxURL)
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" || u.Hostname() == "":
		return errors.New("it must be an absolute http or https URL")
	case !validPort(u):
		return errors.New("its port must be a number from 1 to 65535")
	case u.User != nil || strings.Contains(text, "#"):
		return errors.New("it must have neither a username nor a fragment")
	}
	host := u.Hostname()
	if address, err := netip.ParseAddr(host); err == nil {
		return s.config.Hosts.address(host, address)
	}
	if !isName(strings.ToLower(strings.TrimSuffix(host, "."))) {
		return errors.New("its host must be an address, or a name in ASCII")
	}
	ctx, cancel := context.WithTimeout(ctx, resolveWithin)
	defer cancel()
	addresses, err := s.config.Resolver.LookupNetIP(ctx, "ip", host)
	if len(s.config.Hosts.prefixes) == 0 && !s.config.Hosts.name(host) || err != nil {
		if s.config.Hosts.name(host) {
			return nil
		}
		return fmt.Errorf("%w: it does not list %s", ErrRefused, host)
	}
	for _, address := range addresses {
		if err = s.config.Hosts.address(host, address); err == nil {
			return nil
		}
	}
	return err
}

// validPort reports whether a URL has no port or a valid one.
func validPort(u *url.URL) bool {
	port := u.Port()
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" && !strings.HasSuffix(u.Host, ":") || err == nil && n > 0
}

// Message is a message to send. All tries of a message have the same ID and Body.
type Message struct {
	URL     string
	ID      string   // identifies the message to its receiver; without spaces
	Secrets []string // from NewSecret; two while a secret is being rotated
	Body    []byte   // JSON
}

// Answer is the result of one try.
type Answer struct {
	Status     int           // HTTP status; 0 without a response
	Beginning  string        // first bytes of the body, up to 1 KiB, as text
	RetryAfter time.Duration // pause that the receiver requests; 0 for none
	Took       time.Duration
	Err        string // why the response is missing or incomplete, for people
}

// Delivered reports whether the receiver has accepted the message.
func (a Answer) Delivered() bool { return a.Status >= 200 && a.Status <= 299 }

// String describes the result for people.
func (a Answer) String() string {
	if a.Status == 0 {
		return "got no response: " + a.Err
	}
	return fmt.Sprintf("got the response %d %s", a.Status, http.StatusText(a.Status))
}

// Gone reports whether the receiver wants no more messages.
func (a Answer) Gone() bool { return a.Status == http.StatusGone }

// Send makes one try, which ends within the timeout. It signs with the present time.
func (s *Sender) Send(ctx context.Context, m Message) (a Answer) {
	begun := time.Now()
	defer func() {
		a.Took = time.Since(begun)
		a.Err = shorten(a.Err, maxError)
	}()
	signature, err := sign(m.Secrets, m.ID, begun, m.Body)
	if err != nil {
		return Answer{Err: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return Answer{Err: err.Error()}
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "User-Agent": s.config.UserAgent,
		"webhook-id": m.ID, "webhook-timestamp": strconv.FormatInt(begun.Unix(), 10), "webhook-signature": signature,
	} {
		request.Header.Set(name, value)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return Answer{Err: s.reason(err)}
	}
	a.Status, a.RetryAfter = response.StatusCode, retryAfter(response)
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err = errors.Join(err, response.Body.Close()); err != nil {
		a.Err = "the response was interrupted: " + s.reason(err)
	}
	if response.Header.Get("Location") != "" && a.Status/100 == 3 {
		a.Err = "redirects are not followed"
	}
	a.Beginning = shorten(string(body), maxBeginning)
	return a
}

// reason describes an error of the client for people, without the URL.
func (s *Sender) reason(err error) string {
	if known, ok := errors.AsType[*url.Error](err); ok {
		err = known.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("no response within %v", s.config.Timeout)
	}
	return err.Error()
}

// retryAfter returns the pause that a response with status 429 or 503 requests, or 0.
func retryAfter(r *http.Response) time.Duration {
	value := r.Header.Get("Retry-After")
	if r.StatusCode != http.StatusTooManyRequests && r.StatusCode != http.StatusServiceUnavailable || value == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(maxRetryAfter/time.Second))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(0, time.Until(at)), maxRetryAfter)
}

// shorten returns the beginning of an untrusted text, as valid UTF-8 without NUL bytes.
func shorten(text string, most int) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text[:min(len(text), most)], "\x00", ""), "")
}
