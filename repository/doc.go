// Package repository holds the rules, the permission checks and the use cases of a repository: dataspaces hold sets, sets hold
// resources, users have roles in dataspaces. Gateways (package handlers) call the use cases; storage (packages bolt and blobs) is behind
// small contracts.
//
// # A use case
//
// It checks in one order, in one transaction: lookup (NotFound), authorise (Forbidden), validate (Invalid), then states and conflicts
// (Conflict, Gone, Precondition), and finds every reason to refuse before its first write, since several operations may share a commit.
// It reads its caller again inside the transaction that writes, so that an upload of an hour does not end with rights that were revoked
// meanwhile.
//
// # Permission
//
// Who may do what is decided by rows that rarely change: users, keys, sessions, privileges, dataspaces, sets, cascades. Their state has
// a version (metadata.Versioned). What was read at one version is cached, bounded, and used in transactions of that version alone: the
// common request looks up neither key nor role in the database, and yet a key or role that was revoked ends with the next request.
//
// A session is the way in for browsers: a row that names a key, under the digest of a token that only the cookie holds. Session and key
// are both verified as a key is, also in the middle of an upload. A token names its user, so that the sessions of one user lie side by
// side: signing in removes those that have ended, and the oldest beyond 32.
//
// # Cascades
//
// Deleting a dataspace or a set changes the container in one commit and puts a row into the table of cascades. From then on nothing can
// be created inside, and reading one of its objects shows it deleted. The objects follow in batches of 5 ms or 200 objects, each an
// UpdateBackground, each object with a stamp of its own: other writers go first, and a harvester receives every deletion. The row goes
// with the last batch; after a crash the rest follows at the next start. Restoring works the same way and finds exactly what the
// deletion took along, since each record keeps the stamp of that deletion. Whoever writes to an object whose batch is due applies its
// change first, in the same transaction. A listing shows an object as it was until its batch.
package repository
