package blobstest

import (
	"slices"
	"testing"

	"labshelf/blobs"
)

// testCommitAll commits bodies of several sizes in one call, one of them twice, and one whose blob
// already exists.
func testCommitAll(t *testing.T, store blobs.Store) {
	put(t, store, Content(1))
	var bodies [][]byte
	for _, size := range []int{0, 1, 5000, blobs.HeadSize, 300 << 10, 5000} {
		bodies = append(bodies, Content(size))
	}
	commitAll := func(bodies ...[]byte) []blobs.Content {
		committed, err := store.CommitAll(t.Context(), slices.Values(bodies))
		if err != nil || len(committed) != len(bodies) {
			t.Fatalf("CommitAll of %d: %d, %v", len(bodies), len(committed), err)
		}
		return committed
	}
	for i, c := range commitAll(bodies...) {
		wantRead(t, store, c.Blob, bodies[i])
	}
	if folder, ok := store.(blobs.Folder); ok {
		var digests []blobs.Digest
		for _, body := range bodies[:5] {
			digests = append(digests, digestOf(body))
		}
		wantOnly(t, folder, digests...)
	}
	commitAll()

	// The store must not use the caller's memory after the commit.
	body := Content(700)
	one := commitAll(body)[0]
	clear(body)
	wantRead(t, store, one.Blob, Content(700))
}
