// Package blobs is the contract of a blob store: bytes under their SHA-256 digest.
//
// A body is written in two steps: Stage streams it to stable storage, Staged.Commit makes it
// visible. Only a body whose Commit has returned nil may be acknowledged. CommitAll does both
// together for many bodies that are in memory. A caller that records digests elsewhere pins a
// digest before it commits the blob or relies on one that exists, and releases the pin when its
// record is committed.
//
// Package directory keeps blobs as files, package s3 as objects; package blobstest proves both.
package blobs
