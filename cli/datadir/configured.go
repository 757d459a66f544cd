package datadir

import (
	"github.com/spf13/pflag"

	"labshelf/blobs/s3"
	"labshelf/cli/config"
	"labshelf/cli/exit"
)

// Configured returns the locations of the configured stores, with the keys of the S3. The error is
// an exit.ErrUsage.
func Configured(c config.Config) (Stores, error) {
	at := Stores{Metadata: c.Metadata, Blobs: c.Blobs}
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

// ConfiguredIn returns the locations of the stores of the service in a data directory, from its
// configuration file and environ.
func ConfiguredIn(data string, environ []string) (Stores, error) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	config.AddFlags(flags, "data")
	err := flags.Set("data", data)
	var c config.Config
	if err == nil {
		c, err = config.Load(flags, environ)
	}
	if err != nil {
		return Stores{}, err
	}
	return Configured(c)
}
