package connection

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"labshelf/cli/display"
	"labshelf/client"
)

// versionCodes are the error codes that a service returns for a request it does not know.
var versionCodes = []string{"not_found", "method_not_allowed", "unknown_field", "invalid_parameter", "unsupported_tus_version", "unsupported_media_type"}

// NameVersions adds the versions of program and service to err if they differ and the service did
// not understand the call, or gave an unexpected response. ours is the version of this program; ""
// leaves err unchanged.
func NameVersions(ctx context.Context, c *client.Client, ours string, err error) error {
	var problem *client.Problem
	if ours == "" || !errors.As(err, &problem) || ctx.Err() != nil {
		return err
	}
	if !slices.Contains(versionCodes, string(problem.Code)) && problem.Code != "" {
		return err
	}
	s, failed := c.Status(ctx)
	if failed != nil || s.Version == "" || s.Version == ours {
		return err
	}
	return fmt.Errorf("%w\nthis labshelf is version %s, the service is version %s: an older service does not support all requests of a newer labshelf",
		err, ours, display.Printable(s.Version))
}
