// Package backup copies a repository elsewhere, verifies and restores the copy, and repairs with
// it.
//
// A backup takes a snapshot (one transaction, copied to a separate file, so that no client holds a
// transaction), then every blob that the snapshot refers to, then the manifest. Blobs never change,
// and were on stable storage before the commit that refers to them, so they can be copied later; a
// blob that a purge has removed meanwhile is read from the trash. A destination contains several
// snapshots, each with a manifest, over one store of blobs. manifest.json belongs to the latest
// one. It is replaced last, after the manifest of the previous snapshot has been written under its
// own name. When a snapshot expires, its manifest is removed before its metadata. So at each moment
// every manifest refers only to existing files. The latest manifest (its identity, epoch and stamp)
// decides whether a snapshot may follow it. A restore writes the metadata last, since a data
// directory without them does not start.
//
// # Layout
//
// With modes 0700 and 0600:
//
//	manifest.json                    of the latest snapshot; replaced last, when all is complete
//	manifest-<stamp>-<digest>.json   of each earlier snapshot
//	meta-<stamp>-<digest>.db         the metadata of a snapshot
//	blobs/00 … blobs/ff              the files, under their digests
//	tmp/                             files that are being written
//	parts/, trash/                   empty
//	lock                             excludes other processes
package backup
