package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"labshelf/verify/e2e"
)

// exitDamaged is the exit code of labshelf for damage.
const exitDamaged = 5

// found is one line of labshelf check --json.
type found struct {
	Violation *struct{ Part, Kind, ID, Name, Wrong string }
	End       *struct{ Violations int }
}

// check runs labshelf check on the data directory of a stopped service. It returns the violations
// and the outcome of the command.
func check(ctx context.Context, program, data string) (all []found, o e2e.Outcome, err error) {
	o, err = e2e.Run(ctx, program, "check", "--data", data, "--json")
	if err != nil {
		return nil, o, err
	}
	for line := range strings.Lines(o.Stdout) {
		var f found
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			return nil, o, violated(nil, "check printed %q: %w", line, err)
		}
		if f.Violation != nil {
			all = append(all, f)
		}
	}
	return all, o, nil
}

// clean returns an error if labshelf check finds a problem in the data directory of a stopped
// service.
func clean(ctx context.Context, program, data string) error {
	_, o, err := check(ctx, program, data)
	if err == nil && o.Code != 0 {
		err = violated(nil, "labshelf check: %s", o)
	}
	return err
}

// record is an object as the service returns it, with the fields of all kinds.
type record = e2e.Resource

// upload sends a file with fields, to create or replace a resource.
func upload(ctx context.Context, c *e2e.Client, method, url string, fields map[string]string, content []byte) (e2e.Answer, error) {
	return c.SendFile(ctx, method, url, e2e.File{
		SetID: fields["setId"], Name: fields["name"], Description: fields["description"], Format: fields["format"],
		Filename: "file.bin", Body: bytes.NewReader(content), Size: int64(len(content)),
	})
}

// uploaded creates a resource and returns it.
func uploaded(ctx context.Context, c *e2e.Client, set string, body []byte) (r record, err error) {
	a, err := upload(ctx, c, http.MethodPost, "/resources", map[string]string{"setId": set, "name": "a file"}, body)
	if err == nil {
		err = a.Decode(&r)
	}
	return r, err
}
