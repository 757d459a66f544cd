// Package resumable receives files in chunks, over days, connections and restarts.
//
// Data flows one way: a request acquires the lock of its upload, reads its row, appends a chunk to
// the partial file, writes the new checkpoint into the row, and releases the lock. When the last
// chunk has come, the file becomes the blob of its digest, and one commit makes the resource (or
// replaces its file) and writes into the row which one it is: a client that asks again gets that
// one and makes no second. A refusal is written into the row, too.
//
// # Durability
//
// The row of an upload never says more than is on stable storage: chunk, sync, with the first one
// the folder, then the row with the checkpoint. Of a long chunk a checkpoint is committed every 5
// seconds or 1 GiB; what was written behind the last one is cut off, at once where the chunk is
// refused or the disk is full, else when the next one comes. A chunk with a checksum counts as a
// whole or not at all. A partial file that begins anew is a new file.
//
// A purge leaves the blob alone while the upload may still become a resource.
//
// An upload that has paused for upload_age is removed, row first and file second, and so is a file
// without a row. Backups hold the rows and not the files: an upload whose file is shorter than its
// row says begins anew.
package resumable
