// Package maintenance maintains the stores of a repository: it checks them, removes objects that
// were deleted long ago, and detects damage early.
//
// A check reads the metadata, compares them with the rules and each other, and then reads the
// blobs. A purge first turns resources deleted long ago into tombstones. It then removes the rows
// of unreferenced blobs, moves their files to the trash, and empties the trash. The scan for
// unreferenced blobs is a purge for which nothing is old enough. The scrub reads all blobs, one at
// a time, within a given period. The watermark among the blobs identifies the metadata that they
// belong to.
//
// # Check
//
// A check works from the bottom up: the pages of the database, rows against their checksums and
// their index entries in both directions (metadata.Maintenance), then records against the rules,
// inline bodies, usage, and every blob. It reads the metadata in one long transaction, and the
// blobs outside any transaction. Before it reports a violation in something that changes in the
// meantime, it reads that again.
//
// # Damage
//
// A missing, short or altered blob gets a row among the damages. A download, the scrub, or a check
// through the API adds that row. From then on, requests for the blob fail immediately with
// data_damaged, and records and listings mark each resource that has the blob as damaged. A new
// upload of the same bytes, a repair, or a scrub that finds the blob intact removes the row. The
// mark is not part of a record or of its version: it is looked up in the transaction that reads the
// record.
//
// # Scrub
//
// A scrub moves through the digests at an even rate. Digests are evenly distributed, so the
// distance from one blob to the next, as a fraction of all digests, is the fraction of the period
// that the blob may take. A pass takes the same period with ten files as with ten million. The
// position is stored.
//
// # Purge
//
// A purge creates tombstones in bounded commits and then sweeps blobs. It removes a blob only while
// the blob cannot be pinned: one transaction verifies that nothing refers to the blob and removes
// its row, and then its file moves to the trash. An upload of the same bytes either waits for that
// or completes first. A blob, with or without a row, must have been unreferenced for the time in
// PurgeOptions. The commit that removes its last reference records the time, and a commit that adds
// a reference removes that record. For other unreferenced blobs, a purge and the daily scan record
// when they first found them. The times are stamps, and stamps of a clock that once ran ahead lie
// in the future. For those, the clock reading at which this was noticed counts. Only a purge
// empties the trash, and only of files older than the grace period.
//
// # Objects
//
// If blobs are objects, a purge removes the row of a blob and, in the same commit, adds its object
// to the trash table. The object is deleted after the grace period, at least an hour, since another
// process may have read the row earlier. Files without a row are objects that no row of a blob, of
// the trash or of an upload names. They are deleted after a day, when a row can no longer start to
// name them. Objects have no watermark.
//
// # Watermark
//
// The watermark is written in each minute with a change, and when the service stops. The start, the
// status and a check report metadata of another identity, of an earlier stamp, or of an epoch that
// does not continue the epoch of the watermark. The service then begins an epoch and sets the
// watermark aside as watermark.ahead, until an operator removes that file. Earlier records of
// unreferenced blobs then count from the new epoch. If the newer metadata return, the two
// watermarks show which of them fit.
package maintenance
