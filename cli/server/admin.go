package server

import (
	"context"
	"errors"
	stdlog "log"
	"net/http"
	"net/http/pprof"
	"time"

	"labshelf/cli/config"
	"labshelf/cli/process"
	"labshelf/cli/server/listener"
	"labshelf/cli/server/metrics"
	"labshelf/handlers"
)

// adminConnections bounds the clients of an admin listener. Their descriptors are among the spare
// ones of the main listener.
const adminConnections = 16

// adminShutdown bounds the time for requests to an admin listener after the service has stopped.
const adminShutdown = time.Second

// measurements returns the metrics of the service, or nil if they are off.
func measurements(c config.Config) *metrics.Metrics {
	if c.Metrics == config.Off {
		return nil
	}
	return metrics.New(process.Version())
}

// metricsMux serves the metrics.
func metricsMux(measured *metrics.Metrics) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("/metrics", measured.Handler())
	return mux
}

// profilesMux serves the profiles of Go's runtime.
func profilesMux(*metrics.Metrics) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// serveAdmin opens the configured admin listeners, for metrics and profiles. Both use plain HTTP
// and require no key. close ends them; it is never nil.
func (s *server) serveAdmin(gateway handlers.Config, measured *metrics.Metrics) (close func(), err error) {
	var open []*http.Server
	close = func() {
		for _, server := range open {
			s.closeAdmin(server)
		}
	}
	for _, admin := range []struct {
		setting, address string
		handler          func(*metrics.Metrics) *http.ServeMux
	}{{"metrics", s.config.Metrics, metricsMux}, {"pprof", s.config.Pprof, profilesMux}} {
		if admin.address == config.Off || admin.address == config.Sysadmin {
			continue
		}
		listener, err := listener.Listen(admin.address, admin.setting, adminConnections)
		if err != nil {
			close()
			return func() {}, err
		}
		server := &http.Server{
			Handler: handlers.Admin(gateway, admin.handler(measured)), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
			MaxHeaderBytes: maxHeader, ErrorLog: stdlog.New(connectionLog{s.log}, "", 0),
		}
		open = append(open, server)
		s.logAdmin(admin.setting, listener.Addr().String())
		go func() {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				s.log.Error().Err(err).Msgf("%s is no longer served", admin.setting)
			}
		}()
	}
	return close, nil
}

func (s *server) logAdmin(setting, address string) {
	event, more := s.log.Info(), ""
	if !config.Loopback(address) {
		event, more = s.log.Warn(), "; anybody who can connect to this address can read it, without a key"
	}
	event.Str("address", "http://"+address).Msgf("%s is served%s", setting, more)
}

func (s *server) closeAdmin(server *http.Server) {
	bounded, cancel := context.WithTimeout(context.Background(), adminShutdown)
	defer cancel()
	if err := server.Shutdown(bounded); err != nil {
		_ = server.Close() // requests for a profile may take hours
	}
}
