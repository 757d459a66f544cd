package blobstest_test

import (
	"testing"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	blobstest.Run(t, func(*testing.T) blobs.Store { return blobstest.NewMemory() })
}
