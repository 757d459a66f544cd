package cli

import (
	"labshelf/cli/config"
	"labshelf/cli/datadir"
)

// storesOf returns where the stores of a service are.
func storesOf(c config.Config) (datadir.Stores, error) {
	return datadir.Stores{Metadata: c.Metadata, Blobs: c.Blobs}, nil
}
