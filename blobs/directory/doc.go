// Package directory keeps blobs as files named by their digests.
//
// Stage writes a body to a temporary file and syncs it; Commit gives it its final name and syncs
// the folder.
//
// # Layout
//
// A directory holds 00 … ff/<digest>, tmp/, parts/ (partial files) and trash/, all on one file
// system. A folder is made when the first file comes into it, and its name is synced with that of
// the file, so that any other upload has one folder to sync.
//
// # Order of writes
//
// Temporary file (0600), copy through hash and counter, sync, close, pin the digest, rename, sync
// the folder; then the caller commits its metadata, answers, and releases the pin. Removing goes
// the other way, row first and file second: a crash leaves a file too many, never a record without
// its bytes. A file of the same digest that exists is replaced, not relied on: what has become of
// it since it was written is unknown, and the new one has just been hashed and synced. A sync that
// failed is never tried again.
//
// # Copying
//
// A body of more than one chunk (256 KiB) is read, hashed and written by three goroutines
// (copier.go): it takes as long as the slowest of them. A body has at most 16 chunks in memory,
// three where the disk is slow, and all bodies share 128 more. On Linux the system is told to write
// every 8 MiB (writeback_linux.go), so that the sync finds little to do; an error that shows there
// is one of the write.
//
// # Partial files
//
// parts/<name> is what has come of a resumable upload. A checkpoint is its length and the state of
// its SHA-256, so that no byte is read again to go on; what was written behind the last checkpoint
// is cut off. A complete one gets a second name, which is renamed to its digest like that of any
// other file; the first name goes after the caller's commit, so that a power cut in between loses
// nothing that was acknowledged, also where a file system does not move a file between folders
// atomically. Where a file cannot have two names it is moved, and where that was interrupted, the
// one that has the digest's name is read before it is relied on.
//
// # Watermark
//
// The file watermark says to which repository the blobs belong, and how far its metadata had come:
// epoch, and a stamp that was on stable storage. It is synced and renamed; the rename is not
// synced, since an older watermark does no harm.
package directory
