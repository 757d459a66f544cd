// Package server contains the commands that run and maintain a service, one in each file.
package server

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
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"labshelf/cli/config"
	"labshelf/cli/datadir"
	"labshelf/cli/exit"
	"labshelf/cli/process"
	"labshelf/cli/server/listener"
	"labshelf/cli/server/metrics"
	"labshelf/formats/extraction/child"
	"labshelf/handlers"
	"labshelf/repository"
	"labshelf/repository/webhooks"
	"labshelf/web"
)

// Limits of a connection. A whole request or response has no limit: handlers extend deadlines as it
// progresses.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 48 << 10 // bytes; enough for an archive of 1,000 named resources
	maxStreams    = 100      // requests at a time on one connection, with HTTP/2
)

// ballastBytes is the size of the heap ballast. Go collects garbage when the heap has doubled:
// without the ballast that happens every 4 MiB, which slows down small downloads. The ballast
// counts as heap in use, but its pages are never touched, so it takes no memory. The alternatives
// cost more: SetGCPercent(400) doubles the largest heap, and SetMemoryLimit spends much processor
// time once the limit is exceeded.
const ballastBytes = 12 << 20

// ballastDelay is the delay of the ballast's allocation after the start. The allocation starts a
// collection, which would delay the first response.
const ballastDelay = time.Second

// server is one run of the service.
type server struct {
	config   config.Config
	log      zerolog.Logger
	requests zerolog.Logger // the log of the requests
	ready    func(started)  // called once, when requests are accepted
}

// started describes a service that has started.
type started struct {
	address  string // base URL at the address that it listens on
	data     string // absolute path
	firstKey string // created at this start, or ""
	keyPath  string // of the file with the first key
}

// run runs the service until ctx is done. It then lets the running requests finish and closes
// everything.
func (s *server) run(ctx context.Context) (err error) {
	c := s.config
	secure, err := s.tls()
	if err != nil {
		return err
	}
	data, measured, err := s.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	if err := data.WriteHolder(); err != nil {
		s.log.Warn().Err(err).Msg("the process id could not be written to the data directory")
	}
	defer func() {
		if err := data.RemoveHolder(); err != nil {
			s.log.Warn().Err(err).Msg("the process id could not be removed from the data directory")
		}
	}()
	listener, err := listener.Listen(c.Listen, "listen", listener.MaxConnections())
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // for early errors; otherwise the HTTP server has closed it
	repo := repository.New(data.Metadata, data.Blobs, s.rules(measured, data))
	defer repo.Close()
	gateway, err := s.gateway(measured)
	if err != nil {
		return err
	}
	measured.Add(metrics.Sources{Metadata: data.FileStats, Condition: repo.Monitor.Condition, Connections: listener.Count})
	closeAdmin, err := s.serveAdmin(gateway, measured)
	if err != nil {
		return err
	}
	defer closeAdmin()
	firstKey, err := data.Bootstrap(context.WithoutCancel(ctx), repo, c.AdminKey) // a signal must not interrupt this, or the key would be lost
	if err != nil {
		return err
	}
	at := started{address: localURL(c, listener.Addr()), data: data.Path, firstKey: firstKey, keyPath: data.KeyPath()}
	s.log.Info().Str("version", process.Version()).Str("address", at.address).Str("data", at.data).Msg("started")
	if secure == nil && !config.Loopback(c.Listen) {
		s.log.Warn().Msg("allow_plain_http: anybody on the network between a client and this service can read keys and files")
	}
	defer allocateBallast()()
	defer s.watchClock(repo)()
	s.ready(at)
	server := s.http(handlers.New(repo, gateway), secure)
	server.RegisterOnShutdown(repo.Events.Close) // streams of events would never end on their own
	return s.serve(ctx, listener, server)
}

// open opens the data directory and its stores, and returns its metrics.
func (s *server) open() (*datadir.Dir, *metrics.Metrics, error) {
	stores, err := datadir.Configured(s.config)
	if err != nil {
		return nil, nil, err
	}
	measured := measurements(s.config)
	data, err := datadir.OpenMeasured(s.config.Data, stores, measured)
	if err != nil {
		return nil, nil, err
	}
	if up := data.Upgraded(); up != nil {
		s.log.Warn().Uint32("from", up.From).Uint32("to", up.To).Str("copy", up.Copy).
			Msg("the metadata were upgraded to a newer version of the schema; the copy has the state before")
	}
	return data, measured, nil
}

// http returns the HTTP server with its limits.
func (s *server) http(handler http.Handler, secure *tls.Config) *http.Server {
	stall := s.config.Stall
	return &http.Server{
		Handler: handler, TLSConfig: secure, ConnContext: handlers.ConnContext,
		ReadHeaderTimeout: min(headerTimeout, stall), IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: maxStreams, WriteByteTimeout: stall},
		ErrorLog: stdlog.New(connectionLog{s.log}, "", 0),
	}
}

// allocateBallast allocates the heap ballast after its delay. The returned function frees it.
func allocateBallast() (release func()) {
	var ballast atomic.Pointer[[ballastBytes]byte]
	timer := time.AfterFunc(ballastDelay, func() { ballast.Store(new([ballastBytes]byte)) })
	return func() {
		timer.Stop()
		ballast.Store(nil)
	}
}

// rules returns the configuration of the repository.
func (s *server) rules(measured *metrics.Metrics, data *datadir.Dir) repository.Config {
	c := s.config
	readers, err := child.New()
	if err != nil {
		s.log.Warn().Err(err).Msg("properties cannot be filled from files: the path of this program is unknown")
	}
	return repository.Config{
		Node: c.Node, Version: process.Version(), Anonymous: c.Anonymous, UsersCreateDataspaces: c.UsersCreateDataspaces, AdminsInvite: c.AdminsInvite, MaxUpload: c.MaxUpload, DataspaceQuota: c.DataspaceQuota, UserQuota: c.UserQuota, HoldUpTo: c.HoldUpTo, SessionAge: c.SessionAge, LinkAge: c.LinkLifetime, UploadAge: c.UploadAge,
		IndexDir: filepath.Join(data.Path, datadir.IndexFolder), PageSize: c.PageSize, DirectoryPageSize: c.DirectoryPageSize,
		ScrubPeriod: c.ScrubPeriod, TrashGrace: c.TrashGrace, Note: s.note, Observer: measured.Background(), Room: data.Room(), VerifyReads: c.VerifyReads,
		Instruments: readers,
		Webhooks:    webhooks.NewSender(webhooks.Config{Hosts: c.WebhookHosts, UserAgent: "labshelf/" + process.Version()}),
	}
}

// note logs a background task that fails, and one that works again.
func (s *server) note(task string, err error) {
	if err == nil {
		s.log.Info().Str("task", task).Msg("the background task works again")
		return
	}
	s.log.Error().Str("task", task).Err(err).Msg("a background task failed")
}

// watchClock logs when the clock falls far behind the last change, at the start or later. The
// returned function ends that.
func (s *server) watchClock(repo *repository.Service) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(datadir.ClockTolerance)
		defer ticker.Stop()
		for warned := false; ; {
			behind := repo.Monitor.Health().ClockBehind
			if behind > datadir.ClockTolerance && !warned {
				s.log.Warn().Dur("ms", behind).Msg("the clock is behind the last change; new changes get times just after the last change")
			}
			warned = behind > datadir.ClockTolerance
			select {
			case <-ticker.C:
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

// gateway returns the configuration of the handlers.
func (s *server) gateway(measured *metrics.Metrics) (g handlers.Config, err error) {
	hostname, err := os.Hostname()
	if err != nil {
		return g, fmt.Errorf("host name: %w", err)
	}
	c := s.config
	g = handlers.Config{
		BaseURL: c.BaseURL, ViewDataURL: c.ViewDataURL, TrustedProxies: c.TrustedProxies, RedirectDownloads: c.RedirectDownloads,
		AllowedHosts: append(listenNames(c.Listen), c.AllowedHosts...), AllowedOrigins: c.AllowedOrigins, FailedKeys: c.FailedKeys, AnonymousRequests: c.AnonymousRequests,
		Stall: c.Stall, MinRate: c.MinRate, Hostname: hostname, Version: process.Version(), Log: s.requests,
		Slow: c.SlowRequest, Observe: measured.Requests(), Pages: web.Files(),
	}
	if c.Metrics == config.Sysadmin {
		g.Metrics = measured.Handler()
	}
	return g, nil
}

// serve accepts requests until ctx is done. Running requests then get the configured time to
// finish.
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
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.Shutdown)
	defer cancel()
	err := server.Shutdown(bounded)
	if errors.Is(err, context.DeadlineExceeded) {
		s.log.Warn().Msg("requests that did not finish in time were cut off")
		err = server.Close()
	}
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	s.log.Info().Msg("stopped")
	return err
}

// tls returns the TLS configuration, or nil if HTTPS is not configured.
func (s *server) tls() (*tls.Config, error) {
	if s.config.TLSCert == "" {
		return nil, nil
	}
	own, err := newTLSFiles(s.config.TLSCert, s.config.TLSKey, s.log)
	if err != nil {
		return nil, exit.Usage(err)
	}
	return &tls.Config{GetCertificate: own.get, MinVersion: tls.VersionTLS12}, nil
}

// listenNames returns the host name on which the service listens, since clients use it too.
func listenNames(listen string) []string {
	host, _, _ := net.SplitHostPort(listen)
	if _, err := netip.ParseAddr(host); err == nil || host == "" || host == "localhost" {
		return nil // known without this list
	}
	return []string{host}
}

// localURL returns the base URL as seen from this machine, without a proxy.
func localURL(c config.Config, address net.Addr) string {
	scheme, path := "http", "/v1"
	if c.TLSCert != "" {
		scheme = "https"
	}
	if c.BaseURL != nil {
		path = c.BaseURL.EscapedPath()
	}
	host := address.String()
	if tcp, ok := address.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		host = fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return scheme + "://" + host + path
}

// connectionLog writes the HTTP server's messages about connections, such as failed TLS handshakes,
// to the log.
type connectionLog struct{ log zerolog.Logger }

func (l connectionLog) Write(message []byte) (int, error) {
	l.log.Warn().Msg(strings.TrimSpace(string(message)))
	return len(message), nil
}
