package handlers

import (
	"slices"

	"labshelf/docs"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/tus"
	"labshelf/handlers/pages"
	"labshelf/paging"
)

// results comes between the path of a listing and a page token.
const results = "/query/results/"

// route is one operation of the interface. HEAD and OPTIONS follow by themselves. Routes are
// written without the names of the fields, so that one that does not say who may use it does not
// compile.
type route struct {
	method, path string
	audience     audience
	serve        exchange.Handler
	kind         routeKind
	cost         cost // which budget it is admitted to
}

// audience tells which callers may use a route. Here it decides only whether a key is needed: the
// rules are in package repository, and the tests compare this column, from which
// docs/reference/permissions.md is made, with them.
type audience uint8

const (
	everybody audience = iota // also without a key
	keyed                     // callers with a key; what is listed depends on the caller
	readers                   // callers with a role in the dataspace, and if it is public all with a key
	anonymous                 // as readers, and if it is open also callers without a key
	holders                   // callers with a role in the dataspace
	writers                   // its editors and admins
	managers                  // its admins
	senders                   // the caller that began the upload
	creators                  // callers that the configuration lets create dataspaces
	oneself                   // the user of the path
	sysadmins                 // these may use every route
)

type routeKind uint8

const (
	plain      routeKind = iota // takes no query
	listing                     // has pages; its use case reads the query
	downloaded                  // takes a disposition
	archived                    // takes ids of resources
	chunked                     // speaks tus, and takes no query
	sized                       // takes a size of the audit log
	proving                     // takes what is to be proven of it
	following                   // takes the id of an event
	tabled                      // takes what separates columns
	previewed                   // may change nothing, but say what it would
	foldered                    // takes the path of a folder
	outlined                    // takes what its listing takes; its use case reads the query
	revoking                    // takes what becomes of the dependents
)

// routes is the whole interface.
func (a *api) routes() []route {
	return slices.Concat(a.routesOfFiles(), uploadRoutes{a}.routesOfUploads(),
		userRoutes{a}.routesOfUsers(), userRoutes{a}.routesOfKeys(), webhookRoutes{a}.routesOfWebhooks(), schemaRoutes{a}.routesOfSchemas(), editRoutes{a}.routesOfEdits(), folderRoutes{a}.routesOfFolders(), linkRoutes{a}.routesOfLinks())
}

// routesOfFiles are those of the service, of sessions, dataspaces, sets and resources.
func (a *api) routesOfFiles() []route {
	return []route{
		{"GET", "/status", everybody, a.getStatus, plain, light},
		{"GET", "/openapi.json", everybody, serveDocument("application/json", openapiJSON), plain, light},
		{"GET", "/openapi.yaml", everybody, serveDocument("application/yaml", openapiYAML), plain, light},

		{"POST", "/session", everybody, sessionRoutes{a}.signIn, plain, light},
		{"DELETE", "/session", everybody, sessionRoutes{a}.signOut, plain, light},

		{"GET", "/dataspaces", keyed, containerRoutes{a}.listDataspaces, listing, page},
		{"POST", "/dataspaces", creators, containerRoutes{a}.createDataspace, plain, light},
		{"GET", "/dataspaces/:id", anonymous, containerRoutes{a}.getDataspace, plain, light},
		{"PUT", "/dataspaces/:id", managers, containerRoutes{a}.updateDataspace, plain, light},
		{"DELETE", "/dataspaces/:id", managers, containerRoutes{a}.deleteDataspace, plain, light},
		{"POST", "/dataspaces/:id/restore", managers, containerRoutes{a}.restoreDataspace, plain, light},
		{"GET", "/dataspaces/:id/resources", anonymous, resourceRoutes{a}.listResources(paging.DataspaceResources), listing, page},
		{"GET", "/dataspaces/:id/sets", anonymous, containerRoutes{a}.listSets(paging.DataspaceSets), listing, page},
		{"GET", "/dataspaces/:id/usage", readers, containerRoutes{a}.getDataspaceUsage, plain, compute},
		{"GET", "/dataspaces/:id/history", readers, auditRoutes{a}.listHistory(paging.DataspaceHistory), listing, page},

		{"GET", "/sets", keyed, containerRoutes{a}.listSets(paging.Sets), listing, page},
		{"POST", "/sets", writers, containerRoutes{a}.createSet, plain, light},
		{"GET", "/sets/:id", anonymous, containerRoutes{a}.getSet, plain, light},
		{"PUT", "/sets/:id", writers, containerRoutes{a}.updateSet, plain, light},
		{"DELETE", "/sets/:id", writers, containerRoutes{a}.deleteSet, plain, light},
		{"POST", "/sets/:id/restore", writers, containerRoutes{a}.restoreSet, plain, light},
		{"GET", "/sets/:id/archive", anonymous, fileRoutes{a}.downloadArchive, archived, stream},
		{"GET", "/sets/:id/resources", anonymous, resourceRoutes{a}.listResources(paging.SetResources), listing, page},
		{"GET", "/sets/:id/history", readers, auditRoutes{a}.listHistory(paging.SetHistory), listing, page},

		{"GET", "/resources", keyed, resourceRoutes{a}.listResources(paging.Resources), listing, page},
		{"POST", "/resources", writers, resourceRoutes{a}.createResource, plain, blob},
		{"GET", "/resources/:id", anonymous, resourceRoutes{a}.getResource, plain, light},
		{"PUT", "/resources/:id", writers, resourceRoutes{a}.replaceResource, plain, blob},
		{"PATCH", "/resources/:id", writers, resourceRoutes{a}.editResource, plain, light},
		{"DELETE", "/resources/:id", writers, resourceRoutes{a}.deleteResource, plain, light},
		{"POST", "/resources/:id/restore", writers, resourceRoutes{a}.restoreResource, plain, light},
		{"POST", "/resources/:id/copy", writers, resourceRoutes{a}.copyResource, plain, light},
		{"POST", "/resources/:id/move", writers, resourceRoutes{a}.moveResource, plain, light},
		{"GET", "/resources/:id/data", anonymous, fileRoutes{a}.downloadResource, downloaded, blob},
		{"GET", "/resources/:id/history", readers, auditRoutes{a}.listHistory(paging.ResourceHistory), listing, page},
		{"GET", "/resources/:id/versions", anonymous, resourceRoutes{a}.listVersions, listing, page},
		{"GET", "/resources/:id/versions/:number", anonymous, resourceRoutes{a}.getVersion, plain, light},
		{"GET", "/resources/:id/versions/:number/data", anonymous, fileRoutes{a}.downloadVersion, downloaded, blob},
		{"DELETE", "/resources/:id/versions/:number/data", sysadmins, resourceRoutes{a}.eraseVersion, plain, light},
		{"PUT", "/resources/:id/versions/:number/label", writers, resourceRoutes{a}.labelVersion, plain, light},
		{"POST", "/resources/:id/versions/:number/restore", writers, resourceRoutes{a}.restoreVersion, plain, light},
	}
}

// routesOfUploads are those of resumable uploads.
func (a uploadRoutes) routesOfUploads() []route {
	return []route{
		{"POST", "/uploads", writers, a.createUpload, chunked, blob},
		{"GET", "/uploads/:id", senders, a.on(tus.Upload.Get), chunked, light},
		{"PATCH", "/uploads/:id", senders, a.on(tus.Upload.Continue), chunked, blob},
		{"POST", "/uploads/:id", senders, a.on(tus.Upload.Override), chunked, blob},
		{"DELETE", "/uploads/:id", senders, a.on(tus.Upload.End), chunked, light},
	}
}

// routesOfEdits are those of bulk edits of the metadata of files.
func (a editRoutes) routesOfEdits() []route {
	return []route{
		{"GET", "/sets/:id/metadata", anonymous, a.exportMetadata, tabled, stream},
		{"POST", "/sets/:id/metadata", writers, a.editMetadata, previewed, compute},
		{"GET", "/sets/:id/edits", readers, a.listEdits, plain, page},
		{"GET", "/edits/:id", readers, a.getEdit, plain, light},
		{"POST", "/edits/:id/undo", writers, a.undoEdit, plain, compute},
	}
}

// routesOfFolders are those of folders of a set.
func (a folderRoutes) routesOfFolders() []route {
	return []route{
		{"GET", "/sets/:id/resources/outline", anonymous, a.outlineResources, outlined, compute},
		{"GET", "/sets/:id/folder", anonymous, a.getFolder, foldered, compute},
		{"POST", "/sets/:id/folder", writers, a.createFolder, plain, light},
		{"POST", "/sets/:id/folder/copy", writers, a.copyFolder, plain, compute},
		{"POST", "/sets/:id/folder/move", writers, a.moveFolder, plain, compute},
		{"POST", "/sets/:id/folder/delete", writers, a.deleteFolder, plain, compute},
		{"POST", "/sets/:id/folder/restore", writers, a.restoreFolder, plain, compute},
		{"POST", "/sets/:id/many", writers, a.changeMany, plain, compute},
	}
}

// routesOfLinks are those of links. A link is for its owner, too, while that is an editor.
func (a linkRoutes) routesOfLinks() []route {
	return []route{
		{"GET", "/links", keyed, a.listLinks, listing, page},
		{"POST", "/links", writers, a.createLink, plain, light},
		{"GET", "/links/:id", managers, a.getLink, plain, light},
		{"PUT", "/links/:id", managers, a.updateLink, plain, light},
		{"DELETE", "/links/:id", managers, a.revokeLink, plain, light},
		{"POST", "/links/:id/take", managers, a.takeLink, plain, light},
		{"DELETE", "/links/:id/uploads", managers, a.endLinkUploads, plain, light},
	}
}

// routesOfVisitors are those of people who were sent a link, below hosts.LinkPath. Files come in
// chunks by the same protocol and code as those of users.
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

// routesOfPages are those of what pages link, and of what search engines read. All other addresses
// are pages, too: otherPath serves them.
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

// routesOfWebhooks are those of webhooks.
func (a webhookRoutes) routesOfWebhooks() []route {
	return []route{
		{"GET", "/webhooks", keyed, a.listWebhooks, plain, page},
		{"POST", "/webhooks", managers, a.createWebhook, plain, light},
		{"GET", "/webhooks/:id", managers, a.getWebhook, plain, light},
		{"PUT", "/webhooks/:id", managers, a.updateWebhook, plain, light},
		{"DELETE", "/webhooks/:id", managers, a.deleteWebhook, plain, light},
		{"POST", "/webhooks/:id/rotate", managers, a.rotateWebhook, plain, light},
		{"POST", "/webhooks/:id/resume", managers, a.resumeWebhook, plain, light},
		{"POST", "/webhooks/:id/skip", managers, a.skipWebhook, plain, light},
		{"GET", "/webhooks/:id/deliveries", managers, a.listDeliveries, plain, page},
		{"POST", "/webhooks/:id/deliveries/:number/repeat", managers, a.repeatDelivery, plain, light},
	}
}

// routesOfSchemas are those of schemas, and of what they say of sets and resources.
func (a schemaRoutes) routesOfSchemas() []route {
	return []route{
		{"GET", "/dataspaces/:id/schemas", anonymous, a.listSchemas, plain, page},
		{"POST", "/dataspaces/:id/schemas", managers, a.createSchema, plain, compute},
		{"GET", "/schemas/:id", anonymous, a.getSchema, plain, light},
		{"PUT", "/schemas/:id", managers, a.updateSchema, plain, compute},
		{"DELETE", "/schemas/:id", managers, a.deleteSchema, plain, light},
		{"POST", "/schemas/:id/restore", managers, a.restoreSchema, plain, compute},
		{"GET", "/schemas/:id/versions", anonymous, a.listSchemaVersions, plain, page},
		{"GET", "/schemas/:id/versions/:number", anonymous, a.getSchemaVersion, plain, page},
		{"GET", "/sets/:id/schema", anonymous, a.getSetSchema, plain, light},
		{"GET", "/resources/:id/schema", anonymous, a.getResourceSchema, plain, light},
	}
}

// routesOfUsers are those of users, privileges, usage and administration.
func (a userRoutes) routesOfUsers() []route {
	return []route{
		{"GET", "/users", keyed, a.listUsers, listing, page},
		{"POST", "/users", sysadmins, a.createUser, plain, light},
		{"GET", "/users/:id", keyed, a.getUser, plain, light},
		{"PUT", "/users/:id", oneself, a.updateUser, plain, light},
		{"DELETE", "/users/:id", sysadmins, a.deleteUser, plain, light},
		{"POST", "/users/:id/restore", sysadmins, a.restoreUser, plain, light},
		{"GET", "/users/:id/usage", oneself, containerRoutes{a.api}.getUserUsage, plain, compute},

		{"GET", "/privileges", keyed, a.listPrivileges, listing, page},
		{"POST", "/privileges", managers, a.grant, plain, light},
		{"GET", "/privileges/:id", holders, a.getPrivilege, plain, light},
		{"DELETE", "/privileges/:id", managers, a.revoke, plain, light},

		{"GET", "/usage", keyed, containerRoutes{a.api}.getUsage, plain, compute},
		{"GET", "/events", keyed, auditRoutes{a.api}.followEvents, following, light},

		{"GET", "/search", keyed, searchRoutes{a.api}.search, listing, compute},

		{"GET", "/audit", keyed, auditRoutes{a.api}.listAudit, listing, compute},
		{"GET", "/audit/head", keyed, auditRoutes{a.api}.getAuditHead, sized, light},
		{"GET", "/audit/proof", keyed, auditRoutes{a.api}.getAuditProof, proving, compute},
		{"GET", "/audit/export", sysadmins, auditRoutes{a.api}.exportAudit, plain, stream},
		{"DELETE", "/audit/entries/:number/texts", sysadmins, auditRoutes{a.api}.eraseAudit, plain, light},

		{"GET", "/admin/snapshot", sysadmins, maintenanceRoutes{a.api}.getSnapshot, plain, stream},
		{"GET", "/admin/blobs/:digest", sysadmins, maintenanceRoutes{a.api}.getBlob, plain, blob},
		{"POST", "/admin/check", sysadmins, maintenanceRoutes{a.api}.check, plain, upkeep},
		{"GET", "/admin/index", sysadmins, searchRoutes{a.api}.getIndex, plain, light},
		{"POST", "/admin/index/rebuild", sysadmins, searchRoutes{a.api}.rebuildIndex, plain, light},
		{"POST", "/admin/purge", sysadmins, maintenanceRoutes{a.api}.purge, plain, upkeep},
	}
}
