// Package client also has a typed call for every operation of the interface, for programs of users.
//
// # Calls
//
// The words of the calls are those of the interface document: a [Dataspace] holds a [Set], a Set
// holds a [Resource], a [User] has a [Privilege] in a Dataspace. A call that makes something takes what is needed (NewSet), one that
// changes it only what is to change (SetEdit), where nil leaves a field as it is:
//
//	set, err := c.EditSet(ctx, id, client.SetEdit{Title: new("Runs of 2026")}, client.IfMatch(set.ETag))
//
// [IfMatch] keeps one from undoing what somebody else has just done, [IfNoneMatch] from fetching what one has.
//
// # Listings
//
// A listing is an iterator that fetches page after page while it is ranged over. [Pages] gives the pages themselves. Who follows
// what changes keeps the URL of the last one, which brings later what has changed since.
//
// # Files
//
// Uploads and downloads stream: none is in memory as a whole. An upload is sent with its SHA-256, which the service compares before it
// answers; a download is compared at its end, and goes on by itself where the connection broke.
//
// # Errors
//
// What the service says is a [*Problem], with the status and a code for programs:
//
//	if p, ok := errors.AsType[*client.Problem](err); ok && p.Code == "set_name_taken" { … }
//
// Other errors are of the connection, or of what the caller gave. What may pass is tried again first, as [Retries] say, and only where
// that is safe: a call that makes something is repeated only if the service cannot have done it.
package client
