package connection

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"labshelf/cli/display"
	"labshelf/client"
)

// versionCodes are the codes of errors that a service returns for what it does not know.
var versionCodes = []string{"not_found", "method_not_allowed", "unknown_field", "invalid_parameter", "unsupported_tus_version", "unsupported_media_type"}

// NameVersions adds the versions of program and service to the error of a call that the service did
// not understand, or answered unexpectedly, where they differ. ours is that of this program; ""
// leaves the error as it is.
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
	return fmt.Errorf("%w\nthis labshelf is version %s, the service is version %s: an older service does not know all that a newer labshelf asks for",
		err, ours, display.Printable(s.Version))
}
