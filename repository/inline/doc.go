// Package inline keeps small bodies in the database, and makes files of them in the background.
//
// Data flows one way: a body comes into a borrowed buffer, is committed with its record, by one
// sync that it shares with others, and the flusher makes a file of it while no client uploads or
// reads; then the record refers to the file, and the body is removed from the database.
//
// A small body does not become a file while its client waits: a file costs two syncs beside those
// of the metadata, which uploads at the same time do not share. That makes 2.0 to 3.3 times as many
// uploads of 4 KiB with one client, 5 to 10 times with 16. At 100 KiB the bytes written twice weigh
// as much as the syncs where one takes 0.1 ms; where it takes longer, inline is faster up to 256
// KiB.
//
// # Flush
//
// The flusher takes inline bodies in batches during an idle window, else a batch each minute, and
// at once when 128 MiB are inline; at 256 MiB uploads become files as large ones do. A flush is no
// change of the resource: stamp, version and entity tags stay, and no listing or harvester sees it.
//
// The order of a flush is commit, files, folders, commit:
//
//  1. The upload's commit holds record and body. Before it nothing is answered; after a crash here
//     nothing was uploaded.
//  2. Each file of the batch, pinned: temporary file, sync, rename. A crash in between leaves a
//     temporary file, which the next start removes, or a blob without a row. The body is still
//     inline, and the next flush replaces that blob.
//  3. Each folder is synced once. A crash before may lose names: as in 2.
//  4. One commit: the record says InBlob, reference and row of the blob are there, the body and a
//     mark of damage are gone. Before it there is the body, after it the file, which has been on
//     stable storage since 3. A reader who sees the commit before its sync opens the file; if a
//     power cut takes the commit back, the body is there again.
//  5. The pins are released. A purge of one of the files came before 2 or sees the reference.
//
// A body belongs to a version of a resource, and is flushed also when another version has replaced
// that. A version that was purged or erased between 2 and 4 is left alone by 4, since its location
// is another one; its blob is an orphan for the next purge. What purges, erases or flushes an
// inline body removes it in the same commit. A body that cannot be read, or has another digest than
// its record says, is not flushed; the status and a check name it. A backup has inline bodies in
// its snapshot, and as files too, for repairs.
package inline
