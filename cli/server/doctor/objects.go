package doctor

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"labshelf/blobs/s3"
	"labshelf/cli/display"
)

// objects tries every operation that the service uses in the S3.
func objects(ctx context.Context) func(place) []Finding {
	return func(w place) []Finding {
		ctx, cancel := context.WithTimeout(ctx, examineLimit)
		defer cancel()
		var found []Finding
		var tried []string
		err := s3.Examine(ctx, w.at.Blobs, w.at.S3, func(check string, err error, took time.Duration) {
			if err == nil {
				tried = append(tried, fmt.Sprintf("%s (%s)", check, display.Duration(took)))
			}
		})
		if len(tried) > 0 {
			found = append(found, fine("%s does: %s", w.at.Blobs, strings.Join(tried, ", ")))
		}
		if err != nil {
			found = append(found, problem("check s3_endpoint, s3_region and the keys, that the bucket exists, and that these keys may put, get, list and delete in it",
				"%s: %v", w.at.Blobs, err))
		}
		if at, err := url.Parse(w.at.S3.Endpoint); err == nil && at.Scheme == "http" && !loopback(at.Hostname()) {
			found = append(found, warning("use an https endpoint, unless nobody else is on that network", "the connection to %s is not encrypted: others can read files", w.at.S3.Endpoint))
		}
		return found
	}
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.Unmap().IsLoopback()
}
