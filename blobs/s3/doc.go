// Package s3 keeps blobs as objects in a bucket of any S3, over minio-go. Several processes can
// share it.
//
// # Names
//
// An object is named <prefix>/<ulid>, and the name is never used again: its time is that of the
// store's clock, the rest is random. Rows of the metadata name objects by the ULID alone. What is
// named otherwise is not touched; <prefix>/owner says whose objects these are.
//
// # Order of writes
//
// The bytes of a body stream to the object while they are hashed; then Commit asks for the object
// (HEAD), and only when its size and checksum are those of what was sent may the caller record it.
// An early end leaves an object that no row names, or a multipart upload. An S3 that keeps no
// SHA-256 checksums is refused, since nothing could be promised of it.
//
// # Checksums
//
// A body of up to one part (16 MiB) is put at once, with its SHA-256 in a header, and tried again
// where the server has failed. One of an announced length of up to 5 GiB is put by one request,
// too, with its SHA-256 as a trailer, since it is not known before. All others come by multipart
// uploads, each part with its SHA-256; the checksum of the object is then the SHA-256 of those of
// the parts, which is computed here as well and compared, and never the digest of the blob.
//
// # Partial files
//
// A resumable upload fills the parts of a multipart upload. What is acknowledged and does not fill
// a part is the tail, an object of its own with its own name. A checkpoint says all that another
// node needs to go on (see position): names, how many parts there are, and the state of their
// checksum. Whoever goes on reads the tail into memory, and writes a part or another tail. An
// upload of up to one part is its tail from beginning to end, which becomes the blob.
//
// # Reading
//
// A reader asks for the object from where it is, and again from there when the connection is lost,
// unless that has just been done; it must have the size, and stay the same. A blob of up to 256
// KiB, and each tail, is read into memory, and hashed. A larger one is not, as in a folder: that
// would cost as much processor time as all the rest of a download.
package s3
