// Package s3 stores blobs as objects in a bucket of any S3 service, with minio-go. Several
// processes can share a bucket.
//
// # Names
//
// An object is named <prefix>/<ulid>. Names are never used again: the time of the ULID is from the
// store's clock, and the rest is random. Rows of the metadata contain only the ULID. The store does
// not touch objects with other names. <prefix>/owner contains the owner of the objects.
//
// # Order of writes
//
// The bytes of a body stream to the object while they are hashed. Then Commit requests the object
// (HEAD). The caller may record the object only if its size and checksum match the sent bytes. An
// early end leaves an object that no row names, or a multipart upload. The store refuses an S3
// without SHA-256 checksums, because it could not guarantee anything there.
//
// # Checksums
//
// A body of up to one part (16 MiB) is sent in one request, with its SHA-256 in a header. The store
// repeats the request if the server fails. A body with an announced length of up to 5 GiB is also
// sent in one request, with its SHA-256 as a trailer, since the digest is not known before. All
// others are multipart uploads, with the SHA-256 of each part. The checksum of such an object is
// the SHA-256 of the parts' checksums. The store computes it, too, and compares both. It is never
// the digest of the blob.
//
// # Partial files
//
// A resumable upload fills the parts of a multipart upload. Acknowledged bytes that do not fill a
// part are the tail, a separate object with its own name. A checkpoint contains everything that
// another node needs to continue (see position): names, the number of parts, and the state of their
// checksum. That node reads the tail into memory, and writes a part or another tail. An upload of
// up to one part is only a tail, which becomes the blob.
//
// # Reading
//
// A reader requests the object from its current offset. After a lost connection it requests the
// rest, unless it has just done so. The object must have the expected size, and must not change.
// The store reads blobs of up to 256 KiB, and all tails, into memory and hashes them. It does not
// hash larger blobs, as in a folder, because that would double the processor time of a download.
package s3
