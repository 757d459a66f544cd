// Package resumable receives files in chunks, across days, connections and restarts.
//
// A request acquires the lock of its upload, reads the row of the upload, appends a chunk to the
// partial file, writes the new checkpoint to the row, and releases the lock. After the last chunk,
// the file becomes the blob of its digest. One commit creates the resource (or replaces its file)
// and writes its id to the row. A client that repeats the request gets that resource and does not
// create a second one. A refusal is written to the row, too.
//
// # Durability
//
// The row of an upload never claims more than is on stable storage. The order is: chunk, sync, for
// the first chunk the folder, then the row with the checkpoint. During a long chunk, a checkpoint
// is committed every 5 seconds or 1 GiB. Bytes after the last checkpoint are cut off: immediately
// if the chunk is refused or the disk is full, and otherwise when the next chunk arrives. A chunk
// with a checksum counts completely or not at all. A partial file that begins again is a new file.
//
// A purge keeps the blob as long as the upload may still become a resource.
//
// An upload that has paused for upload_age is removed: first the row, then the file. A file without
// a row is removed, too. Backups contain the rows but not the partial files, so an upload whose
// file is shorter than its row says begins again.
package resumable
