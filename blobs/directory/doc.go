// Package directory keeps blobs as files named by their digests.
//
// Stage writes a body to a temporary file and syncs it; Commit gives it its final name and syncs
// the folder.
//
// # Layout
//
// A directory contains 00 … ff/<digest>, tmp/, parts/ (partial files) and trash/, all on one file
// system. The first file of a folder creates the folder and syncs both names, so that every other
// upload syncs only one folder.
//
// # Order of writes
//
// Temporary file (0600), copy through hash and counter, sync, close, pin the digest, rename, sync
// the folder; then the caller commits its metadata, answers, and releases the pin. A removal has
// the opposite order, row first and file second: a crash leaves an extra file, never a record
// without its bytes. An existing file with the same digest is replaced, because it may have been
// damaged since it was written, while the new one has just been hashed and synced. A failed sync is
// never repeated.
//
// # Copying
//
// Three goroutines read, hash and write a body of more than one chunk (256 KiB), see copier.go. The
// copy takes as long as the slowest of them. A body has at most 16 chunks in memory. Three chunks
// are reserved for each body, and all bodies share 128 more. On Linux the system starts to write
// back every 8 MiB (writeback_linux.go), so that the sync has little to do; an error of the
// writeback is returned by the write.
//
// # Partial files
//
// parts/<name> contains the received bytes of a resumable upload. A checkpoint is their number and
// the state of their SHA-256, so that resuming reads no byte again. Bytes after the last checkpoint
// are truncated. A complete partial file gets a hard link, which is renamed to its digest like any
// other file. The first name is removed after the caller's commit, so that a power failure in
// between loses nothing that was acknowledged, even if the file system does not move files between
// folders atomically. On a file system without hard links the file is moved. If that was
// interrupted, the file with the name of the digest is read and verified before it is used.
//
// # Watermark
//
// The file watermark names the repository that the blobs belong to, and the state of its metadata:
// the epoch, and a stamp that was on stable storage. It is synced and renamed; the rename is not
// synced, since an older watermark is harmless.
package directory
