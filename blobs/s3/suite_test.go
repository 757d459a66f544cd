package s3_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/internal/servers"
)

// TestStore tests the store against the contract. Each subtest has a separate prefix in one bucket.
func TestStore(t *testing.T) {
	t.Parallel()
	server := servers.StartS3(t)
	bucket := server.Bucket(t)
	var stores atomic.Int64
	blobstest.RunObjects(t, func(t *testing.T, clock blobs.Clock) blobstest.ObjectStore {
		o := options(server)
		o.Clock = clock
		return openAt(t, fmt.Sprintf("s3://%s/store-%d", bucket, stores.Add(1)), o)
	})
}
