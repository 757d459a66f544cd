package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"labshelf/blobs"
	"labshelf/handlers"
	"labshelf/metrics"
	"labshelf/repository"
	"labshelf/web"
)

// Limits of a connection. There is none for a whole request or answer: handlers move deadlines along with progress.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 48 << 10 // bytes; an archive of 1,000 named resources takes 36,000
	maxStreams    = 100      // requests at a time on one connection, with HTTP/2
)

// clockTolerance is how far the clock may be behind the last stamp without a word: leap seconds and corrections.
const clockTolerance = time.Minute

// slack is how many bytes of garbage may lie about beyond what Go allows, which is as much as there is in use: in a program as small
// as this the collector would run for every 4 MiB, and take a fifth of the time of small downloads. It is held as memory that is
// never touched, so that it costs nothing and does not grow with what is in use.
const slack = 12 << 20

// slackDelay is how long after the start it is taken: that makes the collector run, a tenth of the way to the first answer.
const slackDelay = time.Second

// server is the whole service.
type server struct {
	config   config
	log      zerolog.Logger
	requests zerolog.Logger // the part of the log that is about them
	ready    func(started)  // called once, when requests are accepted
}

// started is what there is to tell about a service that has started.
type started struct {
	address  string // base URL at the address that it listens on
	data     string // absolute path
	firstKey string // made at this start, or ""
	keyPath  string // where the first key is kept
}

// run runs the service until ctx is done, then lets the requests under way finish and closes everything.
func (s *server) run(ctx context.Context) (err error) {
	c := s.config
	secure, err := s.tls()
	if err != nil {
		return err
	}
	measured := c.measurements()
	data, err := openMeasured(c.data, measured)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.close()) }()
	if up := data.meta.Upgraded(); up != nil {
		s.log.Warn().Uint32("from", up.From).Uint32("to", up.To).Str("copy", up.Copy).
			Msg("the metadata were brought to a newer version of the schema; the copy is as they were before")
	}
	if err := data.noteHolder(); err != nil {
		s.log.Warn().Err(err).Msg("who has the data directory could not be written down")
	}
	defer func() {
		if err := data.forgetHolder(); err != nil {
			s.log.Warn().Err(err).Msg("who had the data directory could not be removed")
		}
	}()
	listener, err := listen(c.listen, "listen", connections(descriptors()))
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // for early ends; the HTTP server has closed it otherwise
	repo := repository.New(data.meta, data.blobs, s.rules(measured, data.blobs.Room))
	defer repo.Close()
	gateway, err := s.gateway(measured)
	if err != nil {
		return err
	}
	measured.Add(metrics.Sources{Metadata: data.meta.Stats, Condition: repo.Condition, Connections: listener.count})
	closeBeside, err := s.serveBeside(gateway, measured)
	if err != nil {
		return err
	}
	defer closeBeside()
	firstKey, err := data.bootstrap(context.WithoutCancel(ctx), repo, c.adminKey) // or it would fail where it is to end
	if err != nil {
		return err
	}
	at := started{address: c.localURL(listener.Addr()), data: data.path, firstKey: firstKey, keyPath: data.keyPath()}
	s.log.Info().Str("version", version()).Str("address", at.address).Str("data", at.data).Msg("started")
	if secure == nil && !onlyHere(c.listen) {
		s.log.Warn().Msg("allow_plain_http: whoever is on the way between a client and this service reads keys and files")
	}
	defer holdSlack()()
	defer s.watchClock(repo)()
	s.ready(at)
	return s.serve(ctx, listener, &http.Server{
		Handler: handlers.New(repo, gateway), TLSConfig: secure, ConnContext: handlers.ConnContext,
		ReadHeaderTimeout: min(headerTimeout, c.stall), IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: maxStreams, WriteByteTimeout: c.stall},
		ErrorLog: stdlog.New(connectionLog{s.log}, "", 0),
	})
}

// holdSlack takes the slack in a while. The function returned lets go of it.
func holdSlack() (release func()) {
	var held atomic.Pointer[[slack]byte]
	timer := time.AfterFunc(slackDelay, func() { held.Store(new([slack]byte)) })
	return func() {
		timer.Stop()
		held.Store(nil)
	}
}

// rules returns what the repository has to know. room tells how much of the disk is free.
func (s *server) rules(measured *metrics.Metrics, room func() (blobs.Room, error)) repository.Config {
	c := s.config
	return repository.Config{
		UsersCreateDataspaces: c.usersCreateDataspaces, MaxUpload: c.maxUpload, HoldUpTo: c.holdUpTo, SessionAge: c.sessionAge, UploadAge: c.uploadAge,
		PageSize: c.pageSize, DirectoryPageSize: c.directoryPageSize,
		ScrubPeriod: c.scrubPeriod, TrashGrace: c.trashGrace, Note: s.note, Watch: measured.Background(), Room: room,
	}
}

// note logs what goes wrong in the background, and when it works again.
func (s *server) note(task string, err error) {
	if err == nil {
		s.log.Info().Str("task", task).Msg("it works again")
		return
	}
	s.log.Error().Str("task", task).Err(err).Msg("something failed in the background")
}

// watchClock logs when the clock falls far behind the last change, at the start or later. The function returned ends it.
func (s *server) watchClock(repo *repository.Service) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(clockTolerance)
		defer ticker.Stop()
		for told := false; ; {
			behind := repo.Health().ClockBehind
			if behind > clockTolerance && !told {
				s.log.Warn().Dur("ms", behind).Msg("the clock is behind the last change; new changes are dated just after that")
			}
			told = behind > clockTolerance
			select {
			case <-ticker.C:
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

// gateway returns what the gateway has to know.
func (s *server) gateway(measured *metrics.Metrics) (g handlers.Config, err error) {
	hostname, err := os.Hostname()
	if err != nil {
		return g, fmt.Errorf("host name: %w", err)
	}
	c := s.config
	g = handlers.Config{
		BaseURL: c.baseURL, ViewDataURL: c.viewDataURL, TrustedProxies: c.trustedProxies, VerifyReads: c.verifyReads,
		AllowedHosts: append(listenNames(c.listen), c.allowedHosts...), AllowedOrigins: c.allowedOrigins, FailedKeys: c.failedKeys,
		Stall: c.stall, MinRate: c.minRate, Hostname: hostname, Version: version(), Log: s.requests,
		Slow: c.slowRequest, Observe: measured.Requests(), Pages: web.Files(),
	}
	if c.metrics == toSysadmins {
		g.Metrics = measured.Handler()
	}
	return g, nil
}

// serve accepts requests until ctx is done. Those under way then get the configured time to finish.
func (s *server) serve(ctx context.Context, listener net.Listener, server *http.Server) error {
	ended := make(chan error, 1)
	go func() {
		if server.TLSConfig != nil {
			ended <- server.ServeTLS(listener, "", "")
			return
		}
		ended <- server.Serve(listener)
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", errors.Join(err, server.Close()))
	case <-ctx.Done():
	}
	s.log.Info().Msg("stopping")
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.shutdown)
	defer cancel()
	err := server.Shutdown(bounded)
	if errors.Is(err, context.DeadlineExceeded) {
		s.log.Warn().Msg("requests were cut off that did not finish in time")
		err = server.Close()
	}
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	s.log.Info().Msg("stopped")
	return err
}

// tls returns nil where HTTPS is not configured.
func (s *server) tls() (*tls.Config, error) {
	if s.config.tlsCert == "" {
		return nil, nil
	}
	own, err := newTLSFiles(s.config.tlsCert, s.config.tlsKey, s.log)
	if err != nil {
		return nil, usageError{err}
	}
	return &tls.Config{GetCertificate: own.get, MinVersion: tls.VersionTLS12}, nil
}

// listenNames returns the name on which the service listens, if it is a name: clients use it too.
func listenNames(listen string) []string {
	host, _, _ := net.SplitHostPort(listen)
	if _, err := netip.ParseAddr(host); err == nil || host == "" || host == "localhost" {
		return nil // known without being listed
	}
	return []string{host}
}

// localURL is the base URL as this machine can reach it, without a proxy in between.
func (c *config) localURL(address net.Addr) string {
	scheme, path := "http", "/v1"
	if c.tlsCert != "" {
		scheme = "https"
	}
	if c.baseURL != nil {
		path = c.baseURL.EscapedPath()
	}
	host := address.String()
	if tcp, ok := address.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		host = fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return scheme + "://" + host + path
}

// connectionLog takes the messages of the HTTP server about connections, such as failed TLS handshakes, into the log.
type connectionLog struct{ log zerolog.Logger }

func (l connectionLog) Write(message []byte) (int, error) {
	l.log.Warn().Msg(strings.TrimSpace(string(message)))
	return len(message), nil
}
