// Package v1 serves the API below /v1. It decodes requests, calls use cases and encodes answers.
// Each noun of the API has a type and a file.
//
// # Pages of resources
//
// A layout appends each borrowed row to the page. A layout is a template of the JSON that is built
// once for each base URL. Tests compare its output with encoding/json.
package v1

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"labshelf/handlers/internal/authentication"
	"labshelf/handlers/internal/download"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/hosts"
	"labshelf/metadata"
	"labshelf/repository"
)

// Config configures the handlers of the API.
type Config struct {
	Repository        *repository.Service
	Hosts             *hosts.Hosts
	Authentication    *authentication.Authenticator
	Downloads         *download.Sender
	ViewDataURL       string // template of viewDataUrl with {dataspaceId}, {setId}, {id}; "" is a page of this service
	RedirectDownloads bool   // redirect downloads to the blob store if it is S3
	Hostname, Version string // of the service, for its status
	Log               zerolog.Logger
}

// Interface serves requests to the API, by noun. It is safe for concurrent use.
type Interface struct {
	Audit       Audit
	Dataspaces  Dataspaces
	Edits       Edits
	Events      Events
	Files       Files
	Folders     Folders
	Keys        Keys
	Links       Links
	Maintenance Maintenance
	Privileges  Privileges
	Resources   Resources
	Schemas     Schemas
	Search      Search
	Sessions    Sessions
	Sets        Sets
	Status      Status
	Uploads     Uploads
	Usage       Usage
	Users       Users
	Versions    Versions
	Webhooks    Webhooks
}

// New returns the handlers of the API.
func New(c Config) Interface {
	a := &api{config: c, repo: c.Repository, hosts: c.Hosts, auth: c.Authentication, downloads: c.Downloads, started: metadata.Stamp(time.Now().UnixMicro())}
	return Interface{
		Audit:       Audit{a},
		Dataspaces:  Dataspaces{a},
		Edits:       Edits{a},
		Events:      Events{a},
		Files:       Files{a},
		Folders:     Folders{a},
		Keys:        Keys{a},
		Links:       Links{a},
		Maintenance: Maintenance{a},
		Privileges:  Privileges{a},
		Resources:   Resources{a},
		Schemas:     Schemas{a},
		Search:      Search{a},
		Sessions:    Sessions{a},
		Sets:        Sets{a},
		Status:      Status{a},
		Uploads:     Uploads{a},
		Usage:       Usage{a},
		Users:       Users{a},
		Versions:    Versions{a},
		Webhooks:    Webhooks{a},
	}
}

// api is the state that all nouns share. Only caches and pools are mutable.
type api struct {
	config      Config
	repo        *repository.Service
	hosts       *hosts.Hosts
	auth        *authentication.Authenticator
	downloads   *download.Sender
	started     metadata.Stamp
	layout      atomic.Pointer[layouts] // the last layouts used; most requests name the same host
	pages       encode.Pages
	compressors compressors
}

// layouts are the layouts of resources and versions under one base URL, for single records and for
// pages.
type layouts struct {
	base                    string
	single, paged           encode.Layout[metadata.Resource]
	version, versionInPages encode.Layout[encode.Version]
}

// layouts returns the cached layouts if they have the request's base URL, otherwise new ones.
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
