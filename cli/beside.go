package cli

import (
	"context"
	"errors"
	stdlog "log"
	"net/http"
	"net/http/pprof"
	"time"

	"labshelf/handlers"
	"labshelf/metrics"
)

// Words that may stand in place of an address.
const (
	off         = "off"
	toSysadmins = "sysadmin" // at the address of the interface, with a key
)

// connectionsBeside is how many clients an address beside the interface may have: they take descriptors from spareDescriptors.
const connectionsBeside = 16

// lastAnswers is how long what is asked beside the interface may take when the service stops.
const lastAnswers = time.Second

// measurements returns what measures the service, nil where nothing is to.
func (c *config) measurements() *metrics.Metrics {
	if c.metrics == off {
		return nil
	}
	return metrics.New(version())
}

// figures serves what has been measured.
func figures(measured *metrics.Metrics) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("/metrics", measured.Handler())
	return mux
}

// profiles serves the profiles of Go's runtime.
func profiles(*metrics.Metrics) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// serveBeside serves what has addresses of its own: what is measured and profiles, where they are configured. Both are plain
// HTTP and ask for no key. close ends them; it is never nil.
func (s *server) serveBeside(gateway handlers.Config, measured *metrics.Metrics) (close func(), err error) {
	var open []*http.Server
	close = func() {
		for _, server := range open {
			s.closeBeside(server)
		}
	}
	for _, beside := range []struct {
		setting, address string
		handler          func(*metrics.Metrics) *http.ServeMux
	}{{"metrics", s.config.metrics, figures}, {"pprof", s.config.pprof, profiles}} {
		if beside.address == off || beside.address == toSysadmins {
			continue
		}
		listener, err := listen(beside.address, beside.setting, connectionsBeside)
		if err != nil {
			close()
			return func() {}, err
		}
		server := &http.Server{
			Handler: handlers.Beside(gateway, beside.handler(measured)), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
			MaxHeaderBytes: maxHeader, ErrorLog: stdlog.New(connectionLog{s.log}, "", 0),
		}
		open = append(open, server)
		s.tellBeside(beside.setting, listener.Addr().String())
		go func() {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				s.log.Error().Err(err).Msgf("%s is served no longer", beside.setting)
			}
		}()
	}
	return close, nil
}

func (s *server) tellBeside(setting, address string) {
	event, more := s.log.Info(), ""
	if !onlyHere(address) {
		event, more = s.log.Warn(), "; whoever can connect to this address can read it, without a key"
	}
	event.Str("address", "http://"+address).Msgf("%s is served%s", setting, more)
}

func (s *server) closeBeside(server *http.Server) {
	bounded, cancel := context.WithTimeout(context.Background(), lastAnswers)
	defer cancel()
	if err := server.Shutdown(bounded); err != nil {
		_ = server.Close() // a profile, which takes as long as somebody wants
	}
}
