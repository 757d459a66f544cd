package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"labshelf/handlers/wire"
)

// CheckEvents is called while a check runs. Its functions may be nil.
type CheckEvents struct {
	Violation func(Violation)
	Progress  func(done, total int64) // bytes of blobs that have been and are to be verified
}

// Check has the service checked, and calls events as news arrive. It is for sysadmins. Violations
// are no error. Errors: ErrIncomplete where the check was cut off.
func (s Maintenance) Check(ctx context.Context, r CheckRequest, events CheckEvents) (result CheckResult, err error) {
	response, err := s.c.post(ctx, "/admin/check", r)
	if err != nil {
		return result, err
	}
	defer closing(response.Body, &err)
	for lines := json.NewDecoder(response.Body); ; {
		var line wire.CheckLine
		if err := lines.Decode(&line); err != nil {
			return result, fmt.Errorf("check: %w: %w", ErrIncomplete, err)
		}
		switch {
		case line.Violation != nil && events.Violation != nil:
			events.Violation(*line.Violation)
		case line.Progress != nil && events.Progress != nil:
			events.Progress(line.Progress.Done, line.Progress.Total)
		case line.Error != nil:
			return result, fmt.Errorf("check: %w: %w", ErrIncomplete, &Problem{Code: line.Error.Code, Detail: line.Error.Detail})
		case line.End != nil:
			_, err := io.Copy(io.Discard, response.Body) // so that the connection is kept
			return *line.End, err
		}
	}
}

// Purge has the service remove the bytes of what was deleted long ago, and returns how much that
// was, or would be. It is for sysadmins.
func (s Maintenance) Purge(ctx context.Context, r PurgeRequest) (result PurgeResult, err error) {
	response, err := s.c.post(ctx, "/admin/purge", r)
	if err != nil {
		return result, err
	}
	defer closing(response.Body, &err)
	err = json.NewDecoder(response.Body).Decode(&result)
	return result, err
}
