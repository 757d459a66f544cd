package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/connection"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// failing is the status of a service that cannot read its records.
const failing = "FAILING"

// statusAdvice explains a status other than OK, with advice; docs/how-to/recovery.md has the
// details.
func statusAdvice(status string) string {
	switch status {
	case "READ-ONLY":
		return "it serves reads and rejects changes: after a disk error until a restart (check the disk first, then run \"labshelf check\"), or while the disk is full"
	case failing:
		return "it cannot read its records: copy its data directory first, then run \"labshelf doctor\" and \"labshelf check\" with --data"
	}
	return ""
}

func statusCommand(p command.Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the status of a service, and your user",
		Long: `status shows the status of the service: OK, READ-ONLY (it serves reads, and
rejects changes) or FAILING. The exit code is 1 unless the status is OK. With a
key it also shows your user. A sysadmin also sees why the service is not OK, the
number of files known to be damaged, background errors, and the nodes of a
cluster.`,
		Example: "  labshelf status\n  labshelf status --server https://data.example.org/v1 --json",
		Args:    cobra.NoArgs,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := p.Connect(cmd.Flags(), p.Process, false)
		keyed := err == nil
		if !keyed {
			if c, err = p.Connect(cmd.Flags(), p.Process, true); err != nil {
				return err
			}
		}
		defer c.Close()
		return p.UntilSignal(func(ctx context.Context) error { return p.Advise(ctx, c, status(ctx, p, c, keyed, asJSON)) })
	}
	cmd.Annotations = exit.Codes(exit.CodeInterrupted)
	connection.AddFlags(cmd.Flags())
	command.JSONFlag(cmd, &asJSON)
	return cmd
}

// status shows the status of the service; keyed means that the client has a key.
func status(ctx context.Context, p command.Process, c *client.Client, keyed, asJSON bool) error {
	s, err := c.Status(ctx)
	if err != nil {
		return err
	}
	var me client.User
	user := "anonymous, without a key: \"labshelf login\" stores one"
	if keyed {
		me, err = c.Users.Me(ctx)
		var problem *client.Problem
		switch {
		case err == nil:
			user = me.Username
		case errors.As(err, &problem) && problem.Status == 401:
			user = "anonymous, since the service does not know the key: sign in with a valid one, or ask a sysadmin for a new one"
		case s.Status != failing: // a failing service cannot identify the user
			return err
		default:
			user = "unknown now"
		}
	}
	if asJSON {
		err = display.WriteJSON(p.Out, struct {
			Server string `json:"server"`
			User   string `json:"user,omitempty"`
			client.Status
		}{c.Base(), me.Username, s})
	} else {
		t := display.Table{}
		t.Add("status", s.Status)
		if text := statusAdvice(s.Status); text != "" {
			t.Add("that is", text)
		}
		t.Add("server", c.Base())
		t.Add("host", s.Hostname)
		if s.Engine != "" { // missing in responses of older services
			t.Add("node", fmt.Sprintf("%s, with metadata in %s", s.Node, s.Engine))
		}
		t.Add("version", s.Version)
		t.Add("you are", user)
		if err := addDetail(&t, s.Detail); err != nil {
			return err
		}
		err = t.Write(p.Out, display.Unlimited)
	}
	if err == nil && s.Status == failing {
		err = errors.New("the service is " + failing)
	}
	return err
}

// statusDetail is the part of the status for sysadmins.
type statusDetail struct {
	Failing, ReadOnly string
	ClockBehind       int64 // ms
	Damaged           int64
	Scrub             struct {
		Begun                  string
		Checked, Found, Passes int64
	}
	Background         map[string]string
	Held, Unreferenced struct{ Files, Bytes int64 }
	Room               *struct{ Bytes, Files int64 } // nil in responses of older services
	Started            time.Time
	Nodes              []struct {
		Name, Version string
		Since, Seen   epochTime
	}
	Identity string
	Epoch    struct {
		ID          string
		Base, Began epochTime
	}
}

// epochTime is a time in RFC 3339, or "".
type epochTime string

func (e epochTime) String() string {
	at, err := time.Parse(time.RFC3339, string(e))
	if err != nil {
		return "unknown"
	}
	return display.Time(at)
}

// addDetail adds the part for sysadmins to the table.
func addDetail(t *display.Table, text json.RawMessage) error {
	if len(text) == 0 {
		return nil
	}
	var d statusDetail
	if err := json.Unmarshal(text, &d); err != nil {
		return fmt.Errorf("this labshelf does not understand the details of the status: %w; --json shows them", err)
	}
	t.Add("runs since", display.Time(d.Started))
	for _, reason := range []string{d.Failing, d.ReadOnly} {
		if reason != "" {
			t.Add("because", reason)
		}
	}
	damaged := "none known"
	if d.Damaged > 0 {
		damaged = fmt.Sprintf("%d files: \"labshelf check\" lists them, \"labshelf repair\" restores them from a backup", d.Damaged)
	}
	t.Add("damaged", damaged)
	scrub := "no pass has begun"
	if begun, err := time.Parse(time.RFC3339, d.Scrub.Begun); err == nil {
		scrub = fmt.Sprintf("pass begun %s: %d files read, %d found damaged; %d passes before it", display.Time(begun), d.Scrub.Checked, d.Scrub.Found, d.Scrub.Passes)
	}
	t.Add("scrub", scrub)
	t.Add("inline", fmt.Sprintf("%d small files, %s, not flushed to files yet", d.Held.Files, display.Bytes(d.Held.Bytes)))
	t.Add("unreferenced", fmt.Sprintf("%d files, %s, unreferenced; \"labshelf purge\" removes them", d.Unreferenced.Files, display.Bytes(d.Unreferenced.Bytes)))
	if d.Room != nil && d.Room.Bytes >= 0 {
		room := display.Bytes(d.Room.Bytes) + " for new files"
		if d.Room.Files >= 0 {
			room += fmt.Sprintf(", %d inodes", d.Room.Files)
		}
		t.Add("room left", room)
	}
	if d.ClockBehind > 0 {
		t.Add("clock", display.Duration(time.Duration(d.ClockBehind)*time.Millisecond)+" behind the last change; set the clock. The service still accepts changes")
	}
	if d.Identity != "" { // missing in responses of older services
		t.Add("identity", d.Identity)
		epoch := fmt.Sprintf("%s, begun %s", d.Epoch.ID, d.Epoch.Began)
		if d.Epoch.Base != "" {
			epoch += fmt.Sprintf(" with the state of %s", d.Epoch.Base)
		}
		t.Add("epoch", epoch)
	}
	for _, n := range d.Nodes {
		t.Add("node "+n.Name, fmt.Sprintf("labshelf %s, runs since %s, seen %s", n.Version, n.Since, n.Seen))
	}
	for _, task := range slices.Sorted(maps.Keys(d.Background)) {
		t.Add(task+" fails", d.Background[task])
	}
	return nil
}
