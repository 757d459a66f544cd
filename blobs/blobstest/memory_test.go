package blobstest_test

import (
	"testing"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	blobstest.Run(t, func(*testing.T) blobs.Folder { return blobstest.NewMemory() })
}

func TestMemoryObjects(t *testing.T) {
	t.Parallel()
	blobstest.RunObjects(t, func(_ *testing.T, clock blobs.Clock) blobstest.ObjectStore { return blobstest.NewObjects(clock) })
}
