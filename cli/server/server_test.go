package server

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"labshelf/cli/config"
	"labshelf/cli/datadir"
)

// read loads a configuration like a command does. args are flags. environ has the form
// VARIABLE=value.
func read(t *testing.T, args []string, environ ...string) (config.Config, error) {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return config.Load(flags, environ)
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// output is a log that a test reads while the service writes it.
type output struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{} // closed by the next Write; nil if no reader waits
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.written != nil {
		close(o.written)
		o.written = nil
	}
	return o.text.Write(p)
}

// await returns when the log contains the text, or when the context ends.
func (o *output) await(ctx context.Context, text string) error {
	for {
		o.mu.Lock()
		if bytes.Contains(o.text.Bytes(), []byte(text)) {
			o.mu.Unlock()
			return nil
		}
		if o.written == nil {
			o.written = make(chan struct{})
		}
		written := o.written
		o.mu.Unlock()
		select {
		case <-written:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start runs a service in a new directory, on a free port, until stop is called.
func start(t *testing.T, log io.Writer, args ...string) (at started, stop func() error) {
	t.Helper()
	c, err := read(t, append([]string{"--data", filepath.Join(t.TempDir(), "data"), "--listen", "127.0.0.1:0"}, args...))
	if err != nil {
		t.Fatal(err)
	}
	ready, ended := make(chan started, 1), make(chan error, 1)
	own, requests, flush := newLog(c, log)
	s := server{config: c, log: own, requests: requests, ready: func(at started) { ready <- at }}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- s.run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		defer flush()
		return <-ended
	})
	t.Cleanup(func() { _ = stop() })
	select {
	case at = <-ready:
	case err := <-ended:
		ended <- err
		t.Fatal(err)
	}
	return at, stop
}

// certificate writes a self-signed certificate for 127.0.0.1. It returns the files and a pool that
// trusts the certificate.
func certificate(t *testing.T) (certFile, keyFile string, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return write(t, "cert.pem", string(cert)), write(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))), pool
}

func TestTLSAtLeast12(t *testing.T) {
	t.Parallel()
	cert, key, pool := certificate(t)
	var log output
	at, stop := start(t, &log, "--tls-cert", cert, "--tls-key", key)
	if !strings.HasPrefix(at.address, "https://127.0.0.1:") {
		t.Errorf("the address is %s", at.address)
	}
	for _, tt := range []struct {
		version uint16
		ok      bool
	}{{tls.VersionTLS13, true}, {tls.VersionTLS12, true}, {tls.VersionTLS11, false}} {
		transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
			RootCAs: pool, MinVersion: tls.VersionTLS10, MaxVersion: tt.version,
		}}
		response, err := (&http.Client{Transport: transport}).Get(at.address + "/status")
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", tls.VersionName(tt.version), err)
		}
		if err == nil {
			_ = response.Body.Close()
		}
	}
	if err := stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if !strings.Contains(log.String(), `"level":"warn"`) || !strings.Contains(log.String(), "TLS handshake error") {
		t.Errorf("the failed handshake is not in the log:\n%s", log.String())
	}
}

func TestLongHeaderIsRefused(t *testing.T) {
	t.Parallel()
	at, _ := start(t, io.Discard)
	for length, want := range map[int]int{40 << 10: http.StatusOK, 64 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		request, err := http.NewRequest(http.MethodGet, at.address+"/status", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Close = true
		request.Header.Set("Cookie", strings.Repeat("x", length))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("a header of %d bytes: status %d, want %d", length, response.StatusCode, want)
		}
	}
}

// TestStopDuringStart: a signal that arrives before the service is ready ends it, and the first key
// is not lost.
func TestStopDuringStart(t *testing.T) {
	t.Parallel()
	c, err := read(t, []string{"--data", t.TempDir(), "--listen", "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	shown := ""
	s := server{config: c, log: zerolog.Nop(), ready: func(at started) { shown = at.firstKey }}
	if err := s.run(ctx); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(filepath.Join(c.Data, datadir.KeyFile))
	if err != nil || string(kept) != shown+"\n" || shown == "" {
		t.Errorf("shown %q, stored %q, %v", shown, kept, err)
	}
}

func TestLocalURL(t *testing.T) {
	t.Parallel()
	behind := &url.URL{Scheme: "https", Host: "data.example.org", Path: "/repo/v1"}
	for _, tt := range []struct {
		c    config.Config
		ip   string
		want string
	}{
		{config.Config{}, "127.0.0.1", "http://127.0.0.1:8080/v1"},
		{config.Config{}, "::1", "http://[::1]:8080/v1"},
		{config.Config{}, "0.0.0.0", "http://localhost:8080/v1"},
		{config.Config{TLSCert: "c"}, "::", "https://localhost:8080/v1"},
		{config.Config{BaseURL: behind}, "127.0.0.1", "http://127.0.0.1:8080/repo/v1"},
	} {
		if got := localURL(tt.c, &net.TCPAddr{IP: net.ParseIP(tt.ip), Port: 8080}); got != tt.want {
			t.Errorf("%s is %s, want %s", tt.ip, got, tt.want)
		}
	}
}

func TestLogFormat(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{"json": `{"level":"warn"`, "auto": `{"level":"warn"`, "console": " WRN hello\n"} {
		var out bytes.Buffer
		log, _, _ := newLog(config.Config{LogFormat: format, LogLevel: zerolog.WarnLevel}, &out)
		log.Info().Msg("too little")
		log.Warn().Msg("hello")
		if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "too little") || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%s: %q", format, out.String())
		}
	}
}
