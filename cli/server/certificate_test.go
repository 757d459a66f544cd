package server

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"
	"testing"
	"time"

	"labshelf/cli/config"
)

// TestRenewedCertificate: the service uses new files without a restart. It ignores unusable files.
func TestRenewedCertificate(t *testing.T) {
	t.Parallel()
	var log output
	c := config.Config{LogFormat: "json"}
	certFile, keyFile, first := certificate(t)
	lines, _, _ := newLog(c, &log)
	own, err := newTLSFiles(certFile, keyFile, lines)
	if err != nil {
		t.Fatal(err)
	}
	own.age = 0
	shows := func(what string, pool *x509.CertPool, warned int) {
		t.Helper()
		pair, err := own.get(&tls.ClientHelloInfo{})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: pool}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if got := strings.Count(log.String(), "the new certificate cannot be used"); got != warned {
			t.Errorf("%s: warned %d times, want %d\n%s", what, got, warned, log.String())
		}
	}
	change := func(path string, from string) {
		t.Helper()
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		later := time.Now().Add(time.Hour) // the clock of the file system may be coarse
		if info, err := os.Stat(path); err != nil || os.Chtimes(path, later, info.ModTime().Add(time.Second)) != nil {
			t.Fatal(err)
		}
	}
	newCert, newKey, second := certificate(t)
	broken := write(t, "broken.pem", "no certificate")

	shows("at first", first, 0)
	change(certFile, broken)
	shows("a broken certificate", first, 1)
	shows("a broken certificate is logged once", first, 1)
	change(certFile, newCert)
	shows("a certificate without its key", first, 2)
	change(keyFile, newKey)
	shows("the new pair", second, 2)
	if err := os.Remove(keyFile); err != nil {
		t.Fatal(err)
	}
	shows("no key", second, 3)
	change(keyFile, newKey)
	if err := os.Chmod(keyFile, 0o604); err != nil {
		t.Fatal(err)
	}
	shows("a key that others can read", second, 4)
	thirdCert, thirdKey, third := certificate(t)
	change(certFile, thirdCert)
	change(keyFile, thirdKey)
	shows("new files with a key that others can read", second, 5)
	shows("that is logged once", second, 5)
	if err := os.Chmod(keyFile, 0o600); err != nil {
		t.Fatal(err)
	}
	shows("only the remedy", third, 5)

	own.age = time.Hour
	change(certFile, broken)
	shows("it is not looked at all the time", third, 5)
}
