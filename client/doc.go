// Package client is the Go client of the HTTP interface, with a typed call for every operation.
// Calls stream, end with their context and may be made concurrently.
//
// # Calls
//
// The calls are grouped by noun, as in c.Sets.Get and c.Links.Create. They have the words of the
// API document: a [Dataspace] has [Set]s, a Set has [Resource]s, a [User] has a [Privilege] in a
// Dataspace. A call that creates an object takes its fields (NewSet), one that changes it only
// those to change (SetEdit), where nil leaves a field as it is:
//
//	edit := client.SetEdit{Title: new("Runs of 2026")}
//	set, err := c.Sets.Edit(ctx, id, edit, client.IfMatch(set.ETag))
//
// [IfMatch] prevents lost updates, [IfNoneMatch] fetching an unchanged record again.
//
// # Listings
//
// A listing is an iterator that fetches page after page while it is ranged over. [Pages] yields the
// pages themselves. A program that follows changes stores the URL of the last one, which later
// returns what has changed since.
//
// # Files
//
// Uploads and downloads stream, in bounded memory. An upload is sent with its SHA-256, which the
// service compares before it answers; a download is compared at its end, and resumes where the
// connection broke.
//
// # Errors
//
// A refusal of the service is a [*Problem], with the status and a code for programs:
//
//	if p, ok := errors.AsType[*client.Problem](err); ok && p.Code == "set_name_taken" { … }
//
// Other errors are of the connection, or of the caller's arguments. Transient failures are retried,
// as [Retries] say, and only if that is safe: a call that creates something is repeated only if the
// service cannot have done it.
package client
