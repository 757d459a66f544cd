package s3

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7/pkg/s3utils"

	"labshelf/blobs"
)

// Options configure the connection to an S3 service.
type Options struct {
	Endpoint string // URL without a path, such as https://s3.example.org; "": Amazon S3
	Region   string // "": us-east-1
	KeyID    string // access key
	Secret   string // secret of the access key
	Token    string // session token; usually ""

	Clock blobs.Clock // dates the objects; Examine needs none
}

const (
	defaultEndpoint = "https://s3.amazonaws.com"
	defaultRegion   = "us-east-1"
	maxPrefix       = 512 // bytes; a key has up to 1,024
)

// ParseAddress returns the bucket and the prefix of s3://bucket/prefix. The prefix may be empty,
// and neither begins nor ends with a slash. The error names the violated rule.
func ParseAddress(address string) (bucket, prefix string, err error) {
	rest, ok := strings.CutPrefix(address, "s3://")
	if !ok {
		return "", "", fmt.Errorf("%q is not of the form s3://bucket/prefix", address)
	}
	bucket, prefix, _ = strings.Cut(rest, "/")
	prefix = strings.TrimSuffix(prefix, "/")
	if err := s3utils.CheckValidBucketName(bucket); err != nil {
		return "", "", fmt.Errorf("the bucket in %q: %w", address, err)
	}
	if len(prefix) > maxPrefix {
		return "", "", fmt.Errorf("the prefix in %q has more than %d bytes", address, maxPrefix)
	}
	for _, element := range strings.Split(prefix, "/") {
		if prefix != "" && (element == "" || element == "." || element == ".." || !plain(element)) {
			return "", "", fmt.Errorf("the prefix in %q must consist of letters, digits, '-', '_' and '.', with single slashes between its elements", address)
		}
	}
	return bucket, prefix, nil
}

// plain reports whether a part of a key needs no encoding anywhere.
func plain(element string) bool {
	const plainBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
	return strings.IndexFunc(element, func(r rune) bool { return !strings.ContainsRune(plainBytes, r) }) < 0
}

// server returns the host and port of the endpoint, and whether it uses TLS.
func (o Options) server() (host string, secure bool, err error) {
	endpoint := o.Endpoint
	if endpoint == "" {
		endpoint = defaultEndpoint
	}
	u, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return "", false, fmt.Errorf("the endpoint: %w", err)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", strings.Trim(u.Path, "/") != "", u.User != nil, u.RawQuery != "", u.Fragment != "":
		return "", false, fmt.Errorf("the endpoint %q is not of the form https://host or http://host:port", u.Redacted())
	}
	return u.Host, u.Scheme == "https", nil
}

// check returns an error for missing options.
func (o Options) check() error {
	switch {
	case o.KeyID == "":
		return errors.New("the access key of the S3 is missing")
	case o.Secret == "":
		return errors.New("the secret key of the S3 is missing")
	}
	return nil
}
