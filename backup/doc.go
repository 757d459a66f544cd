// Package backup copies a repository elsewhere, verifies and restores the copy, and repairs with
// it.
//
// A backup takes a snapshot (one transaction copied to a file of its own, so no client holds a
// transaction), then every blob that the snapshot refers to, then the manifest. Blobs never change,
// and were on stable storage before the commit that named them, so they can be copied later; one
// that a purge has removed meanwhile comes from the trash. A destination holds several snapshots,
// each with a manifest, over one store of blobs. manifest.json is that of the latest one and is
// replaced last, after the manifest of the one before has got its own name; of a snapshot that is
// no longer kept the manifest is removed before the metadata. So at each moment every manifest
// names what is there. The latest manifest (its identity, epoch and stamp) decides whether a
// snapshot may follow it. A restore puts the metadata in place last, since a data directory without
// them does not start.
//
// # Layout
//
// With modes 0700 and 0600:
//
//	manifest.json                    of the latest snapshot; replaced last, when all is complete
//	manifest-<stamp>-<digest>.json   of each earlier snapshot
//	meta-<stamp>-<digest>.db         the metadata of a snapshot
//	blobs/00 … blobs/ff              the files, under their digests
//	tmp/                             what is being written
//	parts/, trash/                   empty
//	lock                             so that two processes do not write here
//
// A destination of format 1 has one snapshot, and becomes one of several with the next.
package backup
