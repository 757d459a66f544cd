package cli

import (
	"labshelf/blobs/s3"
	"labshelf/cli/config"
	"labshelf/cli/datadir"
	"labshelf/cli/exit"
)

// storesOf returns where the stores of a service are, with the keys of its S3. The error is an
// exit.ErrUsage.
func storesOf(c config.Config) (datadir.Stores, error) {
	at := datadir.Stores{Metadata: c.Metadata, Blobs: c.Blobs}
	if c.Blobs == "" {
		return at, nil
	}
	keys, err := c.S3Keys()
	if err == nil {
		_, _, err = s3.ParseAddress(c.Blobs)
	}
	if err != nil {
		return at, exit.Usage(err)
	}
	at.S3 = s3.Options{Endpoint: c.S3Endpoint, Region: c.S3Region, KeyID: keys.ID, Secret: keys.Secret, Token: keys.Token}
	return at, nil
}
