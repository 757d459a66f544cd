package server

import (
	"crypto/tls"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// certificateAge is the time between two examinations of the certificate files.
const certificateAge = 2 * time.Second

// tlsFiles are the files of the service's certificate and its private key. They are read again when
// they change, so that a renewal needs no restart.
type tlsFiles struct {
	certFile, keyFile string
	log               zerolog.Logger
	age               time.Duration

	mu     sync.Mutex
	looked time.Time
	seen   [2]edition
	wrong  string // error of the latest files, or ""
	pair   *tls.Certificate
}

// edition identifies one content of a file.
type edition struct {
	modified time.Time
	size     int64
}

// newTLSFiles reads the files for the first time.
func newTLSFiles(certFile, keyFile string, log zerolog.Logger) (*tlsFiles, error) {
	c := &tlsFiles{certFile: certFile, keyFile: keyFile, log: log, age: certificateAge, looked: time.Now()}
	c.seen = c.editions()
	var err error
	c.pair, err = c.load()
	return c, err
}

// get is the GetCertificate of a tls.Config. If new files cannot be used, the old certificate stays
// in use, and they are tried again: a change of their permissions makes no new edition.
func (c *tlsFiles) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < c.age {
		return c.pair, nil
	}
	c.looked = time.Now()
	seen := c.editions()
	if seen == c.seen && c.wrong == "" {
		return c.pair, nil
	}
	pair, err := c.load()
	if err != nil && seen == c.seen && err.Error() == c.wrong {
		return c.pair, nil
	}
	c.seen, c.wrong = seen, ""
	if err != nil {
		c.wrong = err.Error()
		c.log.Error().Err(err).Msg("the new certificate cannot be used; the service continues to use the old one")
		return c.pair, nil
	}
	c.pair = pair
	c.log.Info().Time("until", pair.Leaf.NotAfter).Msg("new certificate")
	return c.pair, nil
}

// editions returns the current editions of the two files; a missing file has the zero edition.
func (c *tlsFiles) editions() (now [2]edition) {
	for i, path := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(path); err == nil {
			now[i] = edition{info.ModTime(), info.Size()}
		}
	}
	return now
}

func (c *tlsFiles) load() (*tls.Certificate, error) {
	if info, err := os.Stat(c.keyFile); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("tls_key %s: others can read it (mode %04o); make it private with: chmod 600 %s",
			c.keyFile, info.Mode().Perm(), c.keyFile)
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return nil, fmt.Errorf("tls_cert %s, tls_key %s: %w", c.certFile, c.keyFile, err)
	}
	return &pair, nil
}
