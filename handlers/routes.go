package handlers

import (
	"slices"

	"labshelf/docs"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/tus"
	"labshelf/handlers/pages"
	"labshelf/paging"
)

// route is one operation of the API. HEAD and OPTIONS are added automatically. Routes are written
// without field names, so that a route without an audience does not compile.
type route struct {
	method, path string
	audience     audience
	serve        exchange.Handler
	kind         routeKind
	cost         cost // the budget that admits the request
}

// audience is the group of callers that may use a route. Here it only decides whether a key is
// required. The permission rules are in package repository. Tests compare them with this column,
// and docs/reference/permissions.md is generated from it.
type audience uint8

const (
	everybody audience = iota // all callers, with or without a key
	keyed                     // callers with a key; a listing depends on the caller
	readers                   // callers with a role in the dataspace; if it is public, all callers with a key
	anonymous                 // readers, and if the dataspace is open also callers without a key
	holders                   // callers with a role in the dataspace
	writers                   // editors and admins of the dataspace
	managers                  // admins of the dataspace
	senders                   // the caller that started the upload
	creators                  // callers that the configuration allows to create dataspaces
	oneself                   // the user in the path
	sysadmins                 // sysadmins, who may use every route
)

type routeKind uint8

const (
	plain      routeKind = iota // accepts no query parameters
	listing                     // has pages; the use case reads the query
	downloaded                  // accepts a disposition
	archived                    // accepts ids of resources
	chunked                     // uses the tus protocol, without query parameters
	sized                       // accepts a size of the audit log
	proving                     // accepts the parameters of a proof of the audit log
	following                   // accepts the id of an event
	tabled                      // accepts a column separator
	previewed                   // accepts a preview, which changes nothing
	foldered                    // accepts the path of a folder
	outlined                    // accepts the parameters of its listing; the use case reads the query
	revoking                    // accepts what happens to the dependents of a key
)

// routes returns all routes of the API.
func (a *api) routes() []route {
	return slices.Concat(a.routesOfFiles(), a.routesOfUploads(),
		a.routesOfUsers(), a.routesOfWebhooks(), a.routesOfSchemas(), a.routesOfEdits(), a.routesOfFolders(), a.routesOfLinks())
}

// routesOfFiles returns the routes of the service, sessions, dataspaces, sets and resources.
func (a *api) routesOfFiles() []route {
	return []route{
		{"GET", "/status", everybody, a.v1.Status.Get, plain, light},
		{"GET", "/openapi.json", everybody, serveDocument("application/json", openapiJSON), plain, light},
		{"GET", "/openapi.yaml", everybody, serveDocument("application/yaml", openapiYAML), plain, light},

		{"POST", "/session", everybody, a.v1.Sessions.SignIn, plain, light},
		{"DELETE", "/session", everybody, a.v1.Sessions.SignOut, plain, light},

		{"GET", "/dataspaces", keyed, a.v1.Dataspaces.List, listing, page},
		{"POST", "/dataspaces", creators, a.v1.Dataspaces.Create, plain, light},
		{"GET", "/dataspaces/:id", anonymous, a.v1.Dataspaces.Get, plain, light},
		{"PUT", "/dataspaces/:id", managers, a.v1.Dataspaces.Update, plain, light},
		{"DELETE", "/dataspaces/:id", managers, a.v1.Dataspaces.Delete, plain, light},
		{"POST", "/dataspaces/:id/restore", managers, a.v1.Dataspaces.Restore, plain, light},
		{"GET", "/dataspaces/:id/resources", anonymous, a.v1.Resources.List(paging.DataspaceResources), listing, page},
		{"GET", "/dataspaces/:id/sets", anonymous, a.v1.Sets.List(paging.DataspaceSets), listing, page},
		{"GET", "/dataspaces/:id/usage", readers, a.v1.Usage.OfDataspace, plain, compute},
		{"GET", "/dataspaces/:id/history", readers, a.v1.Audit.History(paging.DataspaceHistory), listing, page},

		{"GET", "/sets", keyed, a.v1.Sets.List(paging.Sets), listing, page},
		{"POST", "/sets", writers, a.v1.Sets.Create, plain, light},
		{"GET", "/sets/:id", anonymous, a.v1.Sets.Get, plain, light},
		{"PUT", "/sets/:id", writers, a.v1.Sets.Update, plain, light},
		{"DELETE", "/sets/:id", writers, a.v1.Sets.Delete, plain, light},
		{"POST", "/sets/:id/restore", writers, a.v1.Sets.Restore, plain, light},
		{"GET", "/sets/:id/archive", anonymous, a.v1.Files.Archive, archived, stream},
		{"GET", "/sets/:id/resources", anonymous, a.v1.Resources.List(paging.SetResources), listing, page},
		{"GET", "/sets/:id/history", readers, a.v1.Audit.History(paging.SetHistory), listing, page},

		{"GET", "/resources", keyed, a.v1.Resources.List(paging.Resources), listing, page},
		{"POST", "/resources", writers, a.v1.Resources.Create, plain, blob},
		{"GET", "/resources/:id", anonymous, a.v1.Resources.Get, plain, light},
		{"PUT", "/resources/:id", writers, a.v1.Resources.Replace, plain, blob},
		{"PATCH", "/resources/:id", writers, a.v1.Resources.Edit, plain, light},
		{"DELETE", "/resources/:id", writers, a.v1.Resources.Delete, plain, light},
		{"POST", "/resources/:id/restore", writers, a.v1.Resources.Restore, plain, light},
		{"POST", "/resources/:id/copy", writers, a.v1.Resources.Copy, plain, light},
		{"POST", "/resources/:id/move", writers, a.v1.Resources.Move, plain, light},
		{"GET", "/resources/:id/data", anonymous, a.v1.Files.Download, downloaded, blob},
		{"GET", "/resources/:id/history", readers, a.v1.Audit.History(paging.ResourceHistory), listing, page},
		{"GET", "/resources/:id/versions", anonymous, a.v1.Versions.List, listing, page},
		{"GET", "/resources/:id/versions/:number", anonymous, a.v1.Versions.Get, plain, light},
		{"GET", "/resources/:id/versions/:number/data", anonymous, a.v1.Files.DownloadVersion, downloaded, blob},
		{"DELETE", "/resources/:id/versions/:number/data", sysadmins, a.v1.Versions.Erase, plain, light},
		{"PUT", "/resources/:id/versions/:number/label", writers, a.v1.Versions.Label, plain, light},
		{"POST", "/resources/:id/versions/:number/restore", writers, a.v1.Versions.Restore, plain, light},
	}
}

// routesOfUploads returns the routes of resumable uploads.
func (a *api) routesOfUploads() []route {
	return []route{
		{"POST", "/uploads", writers, a.v1.Uploads.Create, chunked, blob},
		{"GET", "/uploads/:id", senders, a.v1.Uploads.On(tus.Upload.Get), chunked, light},
		{"PATCH", "/uploads/:id", senders, a.v1.Uploads.On(tus.Upload.Continue), chunked, blob},
		{"POST", "/uploads/:id", senders, a.v1.Uploads.On(tus.Upload.Override), chunked, blob},
		{"DELETE", "/uploads/:id", senders, a.v1.Uploads.On(tus.Upload.End), chunked, light},
	}
}

// routesOfEdits returns the routes of bulk edits of file metadata.
func (a *api) routesOfEdits() []route {
	return []route{
		{"GET", "/sets/:id/metadata", anonymous, a.v1.Edits.Export, tabled, stream},
		{"POST", "/sets/:id/metadata", writers, a.v1.Edits.Create, previewed, compute},
		{"GET", "/sets/:id/edits", readers, a.v1.Edits.List, plain, page},
		{"GET", "/edits/:id", readers, a.v1.Edits.Get, plain, light},
		{"POST", "/edits/:id/undo", writers, a.v1.Edits.Undo, plain, compute},
	}
}

// routesOfFolders returns the routes of folders of sets.
func (a *api) routesOfFolders() []route {
	return []route{
		{"GET", "/sets/:id/resources/outline", anonymous, a.v1.Folders.Outline, outlined, compute},
		{"GET", "/sets/:id/folder", anonymous, a.v1.Folders.Get, foldered, compute},
		{"POST", "/sets/:id/folder", writers, a.v1.Folders.Create, plain, light},
		{"POST", "/sets/:id/folder/copy", writers, a.v1.Folders.Copy, plain, compute},
		{"POST", "/sets/:id/folder/move", writers, a.v1.Folders.Move, plain, compute},
		{"POST", "/sets/:id/folder/delete", writers, a.v1.Folders.Delete, plain, compute},
		{"POST", "/sets/:id/folder/restore", writers, a.v1.Folders.Restore, plain, compute},
		{"POST", "/sets/:id/many", writers, a.v1.Folders.ChangeMany, plain, compute},
	}
}

// routesOfLinks returns the routes of links. The owner of a link may use them, too, while that user
// is an editor.
func (a *api) routesOfLinks() []route {
	return []route{
		{"GET", "/links", keyed, a.v1.Links.List, listing, page},
		{"POST", "/links", writers, a.v1.Links.Create, plain, light},
		{"GET", "/links/:id", managers, a.v1.Links.Get, plain, light},
		{"PUT", "/links/:id", managers, a.v1.Links.Update, plain, light},
		{"DELETE", "/links/:id", managers, a.v1.Links.Revoke, plain, light},
		{"POST", "/links/:id/take", managers, a.v1.Links.Take, plain, light},
		{"DELETE", "/links/:id/uploads", managers, a.v1.Links.EndUploads, plain, light},
	}
}

// routesOfWebhooks returns the routes of webhooks.
func (a *api) routesOfWebhooks() []route {
	return []route{
		{"GET", "/webhooks", keyed, a.v1.Webhooks.List, plain, page},
		{"POST", "/webhooks", managers, a.v1.Webhooks.Create, plain, light},
		{"GET", "/webhooks/:id", managers, a.v1.Webhooks.Get, plain, light},
		{"PUT", "/webhooks/:id", managers, a.v1.Webhooks.Update, plain, light},
		{"DELETE", "/webhooks/:id", managers, a.v1.Webhooks.Delete, plain, light},
		{"POST", "/webhooks/:id/rotate", managers, a.v1.Webhooks.Rotate, plain, light},
		{"POST", "/webhooks/:id/resume", managers, a.v1.Webhooks.Resume, plain, light},
		{"POST", "/webhooks/:id/skip", managers, a.v1.Webhooks.Skip, plain, light},
		{"GET", "/webhooks/:id/deliveries", managers, a.v1.Webhooks.Deliveries, plain, page},
		{"POST", "/webhooks/:id/deliveries/:number/repeat", managers, a.v1.Webhooks.Repeat, plain, light},
	}
}

// routesOfSchemas returns the routes of schemas, and of the conformance of sets and resources.
func (a *api) routesOfSchemas() []route {
	return []route{
		{"GET", "/dataspaces/:id/schemas", anonymous, a.v1.Schemas.List, plain, page},
		{"POST", "/dataspaces/:id/schemas", managers, a.v1.Schemas.Create, plain, compute},
		{"GET", "/schemas/:id", anonymous, a.v1.Schemas.Get, plain, light},
		{"PUT", "/schemas/:id", managers, a.v1.Schemas.Update, plain, compute},
		{"DELETE", "/schemas/:id", managers, a.v1.Schemas.Delete, plain, light},
		{"POST", "/schemas/:id/restore", managers, a.v1.Schemas.Restore, plain, compute},
		{"GET", "/schemas/:id/versions", anonymous, a.v1.Schemas.Versions, plain, page},
		{"GET", "/schemas/:id/versions/:number", anonymous, a.v1.Schemas.Version, plain, page},
		{"GET", "/sets/:id/schema", anonymous, a.v1.Schemas.OfSet, plain, light},
		{"GET", "/resources/:id/schema", anonymous, a.v1.Schemas.OfResource, plain, light},
	}
}

// routesOfUsers returns the routes of users, keys, privileges, usage and administration.
func (a *api) routesOfUsers() []route {
	return []route{
		{"GET", "/users", keyed, a.v1.Users.List, listing, page},
		{"POST", "/users", sysadmins, a.v1.Users.Create, plain, light},
		{"GET", "/users/:id", keyed, a.v1.Users.Get, plain, light},
		{"PUT", "/users/:id", oneself, a.v1.Users.Update, plain, light},
		{"DELETE", "/users/:id", sysadmins, a.v1.Users.Delete, plain, light},
		{"POST", "/users/:id/restore", sysadmins, a.v1.Users.Restore, plain, light},
		{"GET", "/users/:id/usage", oneself, a.v1.Usage.OfUser, plain, compute},

		{"GET", "/privileges", keyed, a.v1.Privileges.List, listing, page},
		{"POST", "/privileges", managers, a.v1.Privileges.Grant, plain, light},
		{"GET", "/privileges/:id", holders, a.v1.Privileges.Get, plain, light},
		{"DELETE", "/privileges/:id", managers, a.v1.Privileges.Revoke, plain, light},

		{"GET", "/usage", keyed, a.v1.Usage.Get, plain, compute},
		{"GET", "/events", keyed, a.v1.Events.Follow, following, light},

		{"GET", "/search", keyed, a.v1.Search.Find, listing, compute},

		{"GET", "/audit", keyed, a.v1.Audit.List, listing, compute},
		{"GET", "/audit/head", keyed, a.v1.Audit.Head, sized, light},
		{"GET", "/audit/proof", keyed, a.v1.Audit.Proof, proving, compute},
		{"GET", "/audit/export", sysadmins, a.v1.Audit.Export, plain, stream},
		{"DELETE", "/audit/entries/:number/texts", sysadmins, a.v1.Audit.Erase, plain, light},

		{"GET", "/admin/snapshot", sysadmins, a.v1.Maintenance.Snapshot, plain, stream},
		{"GET", "/admin/blobs/:digest", sysadmins, a.v1.Maintenance.Blob, plain, blob},
		{"POST", "/admin/check", sysadmins, a.v1.Maintenance.Check, plain, upkeep},
		{"GET", "/admin/index", sysadmins, a.v1.Search.Index, plain, light},
		{"POST", "/admin/index/rebuild", sysadmins, a.v1.Search.RebuildIndex, plain, light},
		{"POST", "/admin/purge", sysadmins, a.v1.Maintenance.Purge, plain, upkeep},

		{"GET", "/users/:id/keys", oneself, a.v1.Keys.List, listing, page},
		{"POST", "/users/:id/keys", oneself, a.v1.Keys.Create, plain, light},
		{"GET", "/users/:id/keys/:keyId", oneself, a.v1.Keys.Get, plain, light},
		{"PUT", "/users/:id/keys/:keyId", oneself, a.v1.Keys.Update, revoking, light},
		{"DELETE", "/users/:id/keys/:keyId", oneself, a.v1.Keys.Revoke, revoking, light},
		{"GET", "/users/:id/keys/:keyId/dependents", oneself, a.v1.Keys.Dependents, plain, page},
	}
}

// routesOfVisitors returns the routes of people who received a link, below hosts.LinkPath. Chunked
// uploads use the same protocol and code as uploads of users.
func (a *api) routesOfVisitors() []route {
	return []route{
		{"GET", ":token", everybody, a.links.View, plain, page},
		{"POST", ":token", everybody, a.links.Submit, plain, blob},
		{"PUT", ":token/*name", everybody, a.links.Receive, plain, blob},
		{"GET", ":token/archive", everybody, a.links.Archive, plain, stream},
		{"GET", ":token/files/:id", everybody, a.links.File, plain, blob},
		{"POST", ":token/uploads", everybody, a.links.CreateUpload, chunked, blob},
		{"GET", ":token/uploads/:id", everybody, a.links.On(tus.Upload.Get), chunked, light},
		{"PATCH", ":token/uploads/:id", everybody, a.links.On(tus.Upload.Continue), chunked, blob},
		{"POST", ":token/uploads/:id", everybody, a.links.On(tus.Upload.Override), chunked, blob},
		{"DELETE", ":token/uploads/:id", everybody, a.links.On(tus.Upload.End), chunked, light},
	}
}

// routesOfPages returns the routes of assets, documents and files for search engines. otherPath
// serves the pages themselves.
func (a *api) routesOfPages() []route {
	routes := []route{
		{"GET", pages.AssetsPath + ":name", everybody, a.pages.Asset, plain, light},
		{"GET", "/robots.txt", everybody, a.pages.Robots, plain, light},
		{"GET", "/sitemap.xml", everybody, a.pages.Sitemap, plain, page},
		{"GET", pages.SitemapPath + ":name", everybody, a.pages.SitemapPart, plain, page},
	}
	for _, name := range docs.Published() {
		routes = append(routes, route{"GET", pages.DocsPath + name, everybody, pages.Document(name), plain, light})
	}
	return routes
}
