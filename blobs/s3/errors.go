package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/minio/minio-go/v7"

	"labshelf/blobs"
)

// ErrOwned is returned by Claim if the prefix belongs to another repository.
var ErrOwned = errors.New("the objects belong to another repository")

// errNameless is the error of a blob whose row names no object: it was lost in a folder before it
// could be moved here.
var errNameless = fmt.Errorf("%w: its row names no object", blobs.ErrNotFound)

// fullCodes are the error codes of servers for a full disk or an exhausted quota.
var fullCodes = []string{"QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "InsufficientCapacity", "InsufficientStorage"}

// failed adds the failed action to an error, and converts it to an error of package blobs. Only the
// response that an object or an upload does not exist is an error of the blob.
func failed(what string, err error) error {
	var answer minio.ErrorResponse
	isAnswer := errors.As(err, &answer)
	kind := blobs.ErrUnavailable
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("s3: %s: %w", what, err)
	case isAnswer && answer.StatusCode == http.StatusNotFound && answer.Code != minio.NoSuchBucket:
		kind = blobs.ErrNotFound
	case isAnswer && (answer.StatusCode == http.StatusInsufficientStorage || slices.Contains(fullCodes, answer.Code)):
		kind = blobs.ErrNoSpace
	}
	return fmt.Errorf("%w: %s: %w", kind, what, err)
}

// disagrees returns the error for a response that contradicts the request.
func disagrees(what string, got, want any) error {
	return fmt.Errorf("%w: the S3 service reports the %s %v, but it is %v", blobs.ErrUnavailable, what, got, want)
}
