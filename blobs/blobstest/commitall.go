package blobstest

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"testing"

	"labshelf/blobs"
)

// testCommitAll commits bodies of several sizes at once, one of them twice, and one whose blob was there before.
func testCommitAll(t *testing.T, store blobs.Store) {
	before, err := store.Stage(t.Context(), bytes.NewReader(Content(1)), 0)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, "Commit", before.Commit(), nil)
	var bodies [][]byte
	var digests []blobs.Digest
	for _, size := range []int{0, 1, 5000, blobs.HeadSize, 300 << 10, 5000} {
		bodies = append(bodies, Content(size))
		digests = append(digests, sha256.Sum256(bodies[len(bodies)-1]))
	}
	wantError(t, "CommitAll", store.CommitAll(slices.Values(bodies)), nil)
	for _, body := range bodies {
		wantBlob(t, store, body)
	}
	wantOnly(t, store, digests[:5]...)
	wantError(t, "CommitAll of nothing", store.CommitAll(slices.Values([][]byte{})), nil)

	// What has been committed is no longer the caller's memory.
	body := Content(700)
	wantError(t, "CommitAll of one", store.CommitAll(slices.Values([][]byte{body})), nil)
	clear(body)
	wantBlob(t, store, Content(700))
}
