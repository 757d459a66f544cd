// Package handlers is the HTTP gateway: it decodes requests, calls use cases and encodes answers.
// It knows neither rules nor the database. The package has the server, the table of routes and the
// middleware, and admits requests to budgets. Its rooms answer them: v1, dav, links and pages.
//
// # Routes
//
// httprouter cannot hold /resources/:id and /resources/query/results/:token in one tree. There are
// two instances: one of all routes, and one of the listings alone. An address that ends in
// /query/results/<token> loses that end and is looked up in the second one. So a token on an
// address without pages is 404, and another method on a page is 405 with the right Allow. Redirects
// are off: an address with a trailing slash is served as if it had none.
package handlers

import (
	"context"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/julienschmidt/httprouter"
	"github.com/rs/zerolog"

	"labshelf/handlers/dav"
	"labshelf/handlers/internal/authentication"
	"labshelf/handlers/internal/hosts"
	"labshelf/handlers/internal/slowclient"
	"labshelf/handlers/links"
	"labshelf/handlers/pages"
	v1 "labshelf/handlers/v1"
	"labshelf/repository"
)

// Config configures the gateway.
type Config struct {
	BaseURL        *url.URL       // ends with /v1; nil: taken from each request
	ViewDataURL    string         // template of viewDataUrl with {dataspaceId}, {setId}, {id}; "" is a page of this service
	TrustedProxies []netip.Prefix // whose X-Forwarded-* headers count
	AllowedHosts   []string       // names in addition to localhost, the address of the connection and the host of BaseURL; no ports
	AllowedOrigins []string       // of pages whose scripts may use the service, as browsers send them
	VerifyReads    int64          // bytes of the longest file whose SHA-256 is compared when all of it is downloaded; 0: none
	Stall          time.Duration  // how long a client may neither send nor take a byte; 0: for ever
	MinRate        int64          // bytes per second below which a client uses up Stall; 0: any byte begins it anew
	FailedKeys     int            // requests with an unknown key in a minute from one address that are authenticated; 0: all
	// AnonymousRequests is how many requests without a key an address may send in a minute; 0: any
	// number.
	AnonymousRequests int
	Slow              time.Duration // of a request, without the client's part, from which on it is logged as slow; 0: none is
	RedirectDownloads bool          // to where the bytes are, if that is an S3
	Hostname          string
	Version           string
	Log               zerolog.Logger

	// Pages is what browsers load: manifest.json, which names what the shell of the pages links,
	// and assets; nil: there are no pages.
	Pages fs.FS
	// Metrics is served to sysadmins at /metrics; nil: there is no such address.
	Metrics http.Handler
	// Observe is called after each request, in the goroutine that served it; may be nil.
	Observe func(Observation)

	gate *gate // of tests; nil: one with the usual budgets
}

// api serves requests. Its only mutable state is in its parts: the count of failed keys, caches and
// pools.
type api struct {
	repo      *repository.Service
	config    Config
	allRoutes *httprouter.Router // of all routes
	listings  *httprouter.Router // of those whose addresses may end in a page token
	hosts     *hosts.Hosts
	auth      *authentication.Authenticator
	buffers   *slowclient.Buffers
	gate      *gate

	// The rooms.
	v1    v1.Interface
	drive *dav.Drive
	links *links.Links
	pages *pages.Pages // nil: the service has no pages
}

// hosts returns the hosts of the configuration.
func (c *Config) hosts() *hosts.Hosts {
	return hosts.New(hosts.Config{BaseURL: c.BaseURL, TrustedProxies: c.TrustedProxies, AllowedHosts: c.AllowedHosts})
}

// Conn is a connection that knows what its client has received; see [slowclient.Conn].
type Conn = slowclient.Conn

// ConnContext passes a connection to its requests, if it is a [Conn]. It is for the field of that
// name of http.Server.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return slowclient.ConnContext(ctx, conn)
}
