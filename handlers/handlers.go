// Package handlers is the HTTP gateway: it decodes requests, calls use cases and encodes answers.
// It knows neither rules nor the database. This package contains the server, the table of routes
// and the middleware, and admits requests to budgets. The subpackages v1, dav, links and pages
// answer the requests.
//
// # Routes
//
// httprouter cannot hold /resources/:id and /resources/query/results/:token in one tree. There are
// two instances: one for all routes and one for the listings only. The server cuts
// /query/results/<token> off the end of an address and looks the rest up in the second one. So a
// token on an address without pages gets 404, and a wrong method on a page gets 405 with the right
// Allow. Redirects are off: a trailing slash of an address is ignored.
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
	TrustedProxies []netip.Prefix // proxies whose X-Forwarded-* headers are trusted
	AllowedHosts   []string       // additional host names without ports; localhost, the connection's address and the host of BaseURL are always allowed
	AllowedOrigins []string       // origins of pages whose scripts may use the service, as browsers send them
	Stall          time.Duration  // longest time during which a client neither sends nor receives a byte; 0: no limit
	MinRate        int64          // bytes per second; a slower client uses up Stall; 0: any byte restarts Stall
	FailedKeys     int            // requests with an unknown key that are authenticated per minute and address; 0: no limit
	// AnonymousRequests limits the requests without a key per minute and address; 0: no limit.
	AnonymousRequests int
	Slow              time.Duration // requests that take longer, without waiting for the client, are logged as slow; 0: never
	RedirectDownloads bool          // redirect downloads to the blob store if it is S3
	Hostname          string
	Version           string
	Log               zerolog.Logger

	// Pages is the file system of the web pages: manifest.json, which names the files that the page
	// shell links, and assets. If nil, the service has no pages.
	Pages fs.FS
	// Metrics is served to sysadmins at /metrics. If nil, /metrics does not exist.
	Metrics http.Handler
	// Observe is called after each request, in the goroutine that served it; may be nil.
	Observe func(Observation)

	gate *gate // for tests; nil: the default budgets
}

// api serves requests. Only its parts have mutable state: the count of failed keys, caches and
// pools.
type api struct {
	repo      *repository.Service
	config    Config
	allRoutes *httprouter.Router // of all routes
	listings  *httprouter.Router // routes whose addresses may end in a page token
	hosts     *hosts.Hosts
	auth      *authentication.Authenticator
	buffers   *slowclient.Buffers
	gate      *gate

	// The handlers of the subpackages.
	v1    v1.Interface
	drive *dav.Drive
	links *links.Links
	pages *pages.Pages // nil: the service has no pages
}

func (c *Config) hosts() *hosts.Hosts {
	return hosts.New(hosts.Config{BaseURL: c.BaseURL, TrustedProxies: c.TrustedProxies, AllowedHosts: c.AllowedHosts})
}

// Conn is a connection that knows how much its client has received; see [slowclient.Conn].
type Conn = slowclient.Conn

// ConnContext adds conn to the context of its requests if it is a [Conn]. Assign it to
// http.Server.ConnContext.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return slowclient.ConnContext(ctx, conn)
}
