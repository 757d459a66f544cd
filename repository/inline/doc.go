// Package inline keeps small bodies in the database and flushes them to files in the background.
//
// A body is received into a borrowed buffer and committed with its record, by a sync that it shares
// with other commits. While no client uploads or reads, the flusher writes it to a file. Then the
// record refers to the file, and the body is removed from the database.
//
// A small body does not become a file while its client waits, because a file costs two more syncs,
// which simultaneous uploads cannot share.
//
// # Flush
//
// The flusher processes inline bodies in batches: during an idle window, otherwise one batch a
// minute, and immediately when 128 MiB are inline. At 256 MiB, small bodies become files
// immediately, like large ones. A flush does not change the resource: its stamp, version and entity
// tags stay the same, and neither listings nor harvesters see it.
//
// The order of a flush is commit, files, folders, commit:
//
//  1. The commit of the upload stores the record and the body. The client gets no response before
//     it. After a crash before this commit, nothing was uploaded.
//  2. Each file of the batch is pinned and written: temporary file, sync, rename. A crash in
//     between leaves a temporary file, which the next start removes, or a blob without a row. The
//     body is still inline, and the next flush replaces that blob.
//  3. Each folder is synced once. A crash before that may lose names, as in step 2.
//  4. In one commit, the record changes to InBlob, the reference and the row of the blob are
//     added, and the body and a damage mark are removed. Before it, the body exists; after it, the
//     file, which has been on stable storage since step 3. A reader that sees the commit before
//     its sync opens the file. If a power failure undoes the commit, the body is there again.
//  5. The pins are released. A purge of one of the files came before step 2 or sees the reference.
//
// A body belongs to a version of a resource, and is flushed even if another version has replaced
// that one. Step 4 ignores a version that was purged or erased after step 2, because its location
// has changed; its blob is an orphan for the next purge. Every commit that purges, erases or
// flushes an inline body also removes it. A body that cannot be read, or does not match the digest
// in its record, is not flushed; the status and a check report it. A backup contains inline bodies
// in its snapshot and also as files, for repairs.
package inline
