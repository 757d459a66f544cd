// Package handlers is the HTTP gateway: it decodes requests, calls use cases and encodes answers.
// It knows neither rules nor the database.
//
// # Routes
//
// httprouter cannot hold /resources/:id and /resources/query/results/:token in one tree. There are
// two instances: one of all routes, and one of the listings alone. An address that ends in
// /query/results/<token> loses that end and is looked up in the second one. So a token on an
// address without pages is 404, and another method on a page is 405 with the right Allow. Redirects
// are off: an address with a trailing slash is served as if it had none.
//
// # Downloads
//
// http.ServeContent does ranges and conditions; a whole file goes without it. Up to 32 KiB are read
// and written at once, up to 16 KiB together with the head: the connection joins the two writes of
// Go's server. A larger file goes to the system in one call, on Linux and over plain HTTP/1.1
// (sendfile): in chunks of 32 KiB, 1 GiB cost twice the processor time that nginx needs. Up to
// verify_reads a file is compared with its SHA-256: up to one chunk before the answer begins, above
// that while it is sent, with the last byte kept back. The progress of a client is seen all the
// same: eight times in its stall timeout a deadline passes, and what has not arrived is asked of
// the system (SIOCOUTQ).
//
// # Pages of resources
//
// A borrowed row is appended to the page by a layout: a template of the JSON that is made once for
// each base URL. A page of 100 costs 25 µs for reading and 36 µs for writing 100 kB of JSON;
// through encoding/json, which remains the reference of the tests, it cost 2,000.
//
// # Archives
//
// One transaction finds the ids of the files (16 bytes each). Each file is opened when it comes,
// like a download, with the permission of that moment, and hashed while it goes into the zip. Of
// each path a digest of 16 bytes is kept; with the zip's directory and the manifest a file costs
// some 500 bytes until the archive ends. All archives together have at most 1,048,576 files. An
// error in the middle cuts the connection before the directory of the zip is written.
//
// # The pages for browsers
//
// They are one HTML document, the shell, under every address that is not of the interface and not
// named like a file; the script makes the page by the address. The shell has the base path in
// data-base and links /assets, whose names hold the hash of their content and may be cached for
// ever. It asks for no key; the script uses the interface like any other client. Its policy allows
// scripts of the service and no others. Browsers send cookies whichever page made a request, so
// what is not only read is refused unless it comes from the service's origin
// (http.CrossOriginProtection).
package handlers

import (
	"context"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/julienschmidt/httprouter"
	"github.com/rs/zerolog"

	"labshelf/handlers/dav"
	"labshelf/handlers/internal/authentication"
	"labshelf/handlers/internal/download"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/hosts"
	"labshelf/handlers/internal/slowclient"
	"labshelf/handlers/links"
	"labshelf/handlers/pages"
	"labshelf/metadata"
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

// api serves requests. Its only mutable state is the count of failed keys, caches and pools.
type api struct {
	repo        *repository.Service
	config      Config
	started     metadata.Stamp
	allRoutes   *httprouter.Router // of all routes
	listings    *httprouter.Router // of those whose addresses may end in a page token
	hosts       *hosts.Hosts
	drive       *dav.Drive
	links       *links.Links
	pages       *pages.Pages // nil: the service has no pages
	auth        *authentication.Authenticator
	layout      atomic.Pointer[layouts] // used last; mostly all requests name the same host
	buildings   encode.Pages
	compressors compressors
	buffers     *slowclient.Buffers
	downloads   *download.Sender
	gate        *gate
}

// hosts returns the hosts of the configuration.
func (c *Config) hosts() *hosts.Hosts {
	return hosts.New(hosts.Config{BaseURL: c.BaseURL, TrustedProxies: c.TrustedProxies, AllowedHosts: c.AllowedHosts})
}

// layouts are how resources and their versions are written under one base URL: alone, and in a
// page.
type layouts struct {
	base                    string
	single, paged           encode.Layout[metadata.Resource]
	version, versionInPages encode.Layout[encode.Version]
}

// layouts returns those of the request before, unless that had another base URL.
func (a *api) layouts(r *exchange.Request) *layouts {
	base := a.hosts.Base(r.Request)
	if l := a.layout.Load(); l != nil && l.base == base {
		return l
	}
	view := a.config.ViewDataURL
	if view == "" {
		view = strings.TrimSuffix(base, hosts.Version) + "/resources/{id}"
	}
	l := &layouts{base: base,
		single: encode.ResourceLayout(base, view, ""), paged: encode.ResourceLayout(base, view, encode.ItemIndent),
		version: encode.VersionLayout(base, ""), versionInPages: encode.VersionLayout(base, encode.ItemIndent),
	}
	a.layout.Store(l)
	return l
}

// Conn is a connection that knows what its client has received; see [slowclient.Conn].
type Conn = slowclient.Conn

// ConnContext passes a connection to its requests, if it is a [Conn]. It is for the field of that
// name of http.Server.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return slowclient.ConnContext(ctx, conn)
}
