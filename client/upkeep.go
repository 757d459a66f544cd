package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"labshelf/metadata"
	"labshelf/repository/maintenance"
)

// checkLine is one line of the answer to a check; one of its fields is set.
type checkLine struct {
	Violation *metadata.Violation          `json:"violation"`
	Progress  *struct{ Done, Total int64 } `json:"progress"`
	End       *maintenance.CheckResult     `json:"end"`
	Error     *Problem                     `json:"error"`
}

// Check has the service checked, and calls events as news arrive. It is for sysadmins. Violations
// are no error. Errors: ErrIncomplete where the check was cut off.
func (c *Client) Check(ctx context.Context, o maintenance.CheckOptions, events maintenance.CheckEvents) (result maintenance.CheckResult, err error) {
	request := struct {
		NoData bool   `json:"noData,omitempty"`
		Subset string `json:"subset,omitempty"`
	}{NoData: o.NoData}
	if o.Subset != (maintenance.Subset{}) {
		request.Subset = o.Subset.String()
	}
	response, err := c.post(ctx, "/admin/check", request)
	if err != nil {
		return result, err
	}
	defer closing(response.Body, &err)
	for lines := json.NewDecoder(response.Body); ; {
		var line checkLine
		if err := lines.Decode(&line); err != nil {
			return result, fmt.Errorf("check: %w: %w", ErrIncomplete, err)
		}
		switch {
		case line.Violation != nil && events.Violation != nil:
			events.Violation(*line.Violation)
		case line.Progress != nil && events.Progress != nil:
			events.Progress(line.Progress.Done, line.Progress.Total)
		case line.Error != nil:
			return result, fmt.Errorf("check: %w: %w", ErrIncomplete, line.Error)
		case line.End != nil:
			_, err := io.Copy(io.Discard, response.Body) // so that the connection is kept
			return *line.End, err
		}
	}
}

// Purge has the service remove the bytes of what was deleted long ago, and returns how much that
// was, or would be. A negative Grace leaves the grace period to the service's configuration. It is
// for sysadmins.
func (c *Client) Purge(ctx context.Context, o maintenance.PurgeOptions) (result maintenance.PurgeResult, err error) {
	request := struct {
		OlderThan string `json:"olderThan"`
		DryRun    bool   `json:"dryRun,omitempty"`
		Grace     string `json:"grace,omitempty"`
	}{OlderThan: o.OlderThan.String(), DryRun: o.DryRun}
	if o.Grace >= 0 {
		request.Grace = o.Grace.String()
	}
	response, err := c.post(ctx, "/admin/purge", request)
	if err != nil {
		return result, err
	}
	defer closing(response.Body, &err)
	answer := struct {
		*maintenance.PurgeResult
		Labelled []struct {
			ResourceID, Name, Label string
			Version                 uint32
		}
	}{PurgeResult: &result}
	if err = json.NewDecoder(response.Body).Decode(&answer); err != nil || o.Labelled == nil {
		return result, err
	}
	for _, v := range answer.Labelled {
		id, _ := metadata.ParseID(v.ResourceID)
		o.Labelled(metadata.Version{ResourceID: id, Number: v.Version - 1, Name: v.Name, Label: v.Label})
	}
	return result, nil
}
