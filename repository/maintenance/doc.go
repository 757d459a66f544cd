// Package maintenance looks after the stores of a repository: it checks them, removes what has been
// deleted for long, and finds damage before it matters.
//
// Data flows one way in each part. A check reads the metadata, compares them with the rules and
// each other, then reads the blobs. A purge makes tombstones of resources deleted long ago, removes
// rows of blobs without references, then their files into the trash, and empties that. The scan for
// unreferenced blobs is a purge for which nothing is old enough. The scrub reads one blob after the
// other, in a given time. The watermark among the blobs tells which metadata they belong to.
//
// # Check
//
// A check goes from the bottom up: the pages of the database, rows against their checksums and
// their index entries in both directions (metadata.Maintenance), then records against the rules,
// inline bodies, usage, and every blob. The metadata are read in one long transaction, blobs
// outside of any; what changes meanwhile is read again before it is called wrong.
//
// # Damage
//
// A blob that turns out to be missing, short or of other bytes gets a row among the damages: by a
// download, by the scrub, by a check over the interface. From then on it is data_damaged at once,
// and records and listings say damaged of each resource that has it. A new upload of the same
// bytes, a repair, or a scrub that finds it intact removes the row. damaged is no part of a record
// and no version of it: it is looked up in the transaction that reads the record.
//
// # Scrub
//
// A scrub walks through the digests at an even rate. They are evenly spread, so the distance from
// one blob to the next, as a part of all digests, is the part of the period that it may take: a
// pass takes the period with ten files as with ten million. The position is kept.
//
// # Purge
//
// A purge makes tombstones in bounded commits, then sweeps. A blob goes while nobody can pin it:
// one transaction makes sure that nothing refers to it and removes its row, then its file moves to
// the trash. An upload of the same bytes waits for that or comes before it. A blob, with or without
// a row, must have been unreferenced for as long as PurgeOptions says: the commit that removes its
// last reference records since when, the one that gives it a reference removes that, and a purge
// and the daily scan of unreferenced blobs record what they find first. The time is made of stamps,
// which a clock that once ran ahead leaves in the future; then the clock's reading when that was
// noticed counts. The trash is emptied of what has been in it for longer than the grace period, by
// a purge and by nothing else.
//
// # Objects
//
// Where blobs are objects, a purge removes the row of a blob, and in the same commit its object
// comes into the table of the trash. It is deleted when the grace is over, an hour at least, since
// another process may have read the row before. Files without a row are objects that no row of a
// blob, of the trash or of an upload names; they go when they are older than a row may come to
// name, a day. There is no watermark among objects.
//
// # Watermark
//
// The watermark is written each minute in which something has changed, and when the service stops.
// Metadata of another identity, of an earlier stamp, or of an epoch that does not continue the one
// of the watermark are reported at the start, by the status and by a check. The service then begins
// an epoch and sets the watermark aside as watermark.ahead, until an operator removes that: what
// was recorded as unreferenced before counts from the new epoch, and if the newer metadata come
// back, the two watermarks tell which of them fit.
package maintenance
