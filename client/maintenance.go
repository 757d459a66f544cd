package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"labshelf/handlers/wire"
)

// CheckEvents are callbacks of a running check. They may be nil.
type CheckEvents struct {
	Violation func(Violation)
	Progress  func(done, total int64) // verified bytes of blobs, and the total
}

// Check runs a check in the service, and calls events as results arrive. It is for sysadmins.
// Violations are not an error. Errors: ErrIncomplete for a truncated check.
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
			_, err := io.Copy(io.Discard, response.Body) // so that the connection can be reused
			return *line.End, err
		}
	}
}

// Purge makes the service remove the bytes of objects deleted long ago. It returns the amounts that
// were, or would be, removed. It is for sysadmins.
func (s Maintenance) Purge(ctx context.Context, r PurgeRequest) (result PurgeResult, err error) {
	response, err := s.c.post(ctx, "/admin/purge", r)
	if err != nil {
		return result, err
	}
	defer closing(response.Body, &err)
	err = json.NewDecoder(response.Body).Decode(&result)
	return result, err
}
