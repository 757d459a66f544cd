package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"labshelf/client"
)

// failing is the status of a service that cannot read its records.
const failing = "FAILING"

// meaning says what it means that a service is not OK, and what to do; docs/operations.md has the long form.
func meaning(status string) string {
	switch status {
	case "READ-ONLY":
		return "it reads, and refuses changes: after an error of its disk until it is started again (look at the disk first, then run \"labshelf check\"), without room until there is some"
	case failing:
		return "it cannot read its records: copy its data directory as it is, then run \"labshelf doctor\" and \"labshelf check\" with --data"
	}
	return ""
}

func statusCommand(p Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how a service is, and who you are there",
		Long: `status asks how the service is: OK, READ-ONLY (it serves, and stores nothing
new) or FAILING, which ends the command with exit code 1. With a key it also
says whose key that is; a sysadmin sees why the service is not OK, how many
files are known to be damaged, and what goes on in the background.`,
		Example: "  labshelf status\n  labshelf status --server https://data.example.org/v1 --json",
		Args:    cobra.NoArgs,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := p.Connect(cmd.Flags(), false)
		keyed := err == nil
		if !keyed {
			if c, err = p.Connect(cmd.Flags(), true); err != nil {
				return err
			}
		}
		defer c.Close()
		return p.UntilSignal(func(ctx context.Context) error { return p.advise(ctx, c, p.status(ctx, c, keyed, asJSON)) })
	}
	cmd.Annotations = p.ExitCodes(130)
	p.RemoteFlags(cmd.Flags())
	jsonFlag(cmd, &asJSON)
	return cmd
}

// status shows how the service of c is; keyed says whether c has a key.
func (p Process) status(ctx context.Context, c *client.Client, keyed, asJSON bool) error {
	s, err := c.Status(ctx)
	if err != nil {
		return err
	}
	var me client.User
	who := "nobody, without a key: \"labshelf login\" keeps one"
	if keyed {
		me, err = c.Me(ctx)
		var problem *client.Problem
		switch {
		case err == nil:
			who = me.Username
		case errors.As(err, &problem) && problem.Status == 401:
			who = "nobody, since the service does not know the key, or no longer: sign in with a valid one, or ask a sysadmin for it"
		case s.Status != failing: // then it knows nobody
			return err
		default:
			who = "not to be found out now"
		}
	}
	if asJSON {
		err = p.writeJSON(struct {
			Server string `json:"server"`
			User   string `json:"user,omitempty"`
			client.Status
		}{c.Base(), me.Username, s})
	} else {
		t := table{}
		t.add("status", s.Status)
		if text := meaning(s.Status); text != "" {
			t.add("that is", text)
		}
		t.add("server", c.Base())
		t.add("host", s.Hostname)
		t.add("version", s.Version)
		t.add("you are", who)
		if err := t.detail(s.Detail); err != nil {
			return err
		}
		err = t.write(p.Out, unlimited)
	}
	if err == nil && s.Status == failing {
		err = errors.New("the service is " + failing)
	}
	return err
}

// statusDetail is what sysadmins see of a service.
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
	Room               *struct{ Bytes, Files int64 } // nil: an older service says nothing of it
	Started            time.Time
	Identity           string
	Epoch              struct {
		ID          string
		Base, Began epochTime
	}
}

// epochTime is a moment of an epoch, "" where there is none.
type epochTime string

func (e epochTime) String() string {
	at, err := time.Parse(time.RFC3339, string(e))
	if err != nil {
		return "unknown"
	}
	return when(at)
}

// detail adds what sysadmins see.
func (t *table) detail(text json.RawMessage) error {
	if len(text) == 0 {
		return nil
	}
	var d statusDetail
	if err := json.Unmarshal(text, &d); err != nil {
		return fmt.Errorf("this labshelf does not understand what the service says of itself: %w; --json shows it", err)
	}
	t.add("runs since", when(d.Started))
	for _, reason := range []string{d.Failing, d.ReadOnly} {
		if reason != "" {
			t.add("because", reason)
		}
	}
	damaged := "none known"
	if d.Damaged > 0 {
		damaged = fmt.Sprintf("%d files: \"labshelf check\" names them, \"labshelf repair\" takes them from a backup", d.Damaged)
	}
	t.add("damaged", damaged)
	scrub := "no pass begun yet"
	if begun, err := time.Parse(time.RFC3339, d.Scrub.Begun); err == nil {
		scrub = fmt.Sprintf("pass begun %s: %d files read, %d found damaged; %d passes before it", when(begun), d.Scrub.Checked, d.Scrub.Found, d.Scrub.Passes)
	}
	t.add("scrub", scrub)
	t.add("to be moved", fmt.Sprintf("%d small files, %s; that happens by itself", d.Held.Files, FormatBytes(d.Held.Bytes)))
	t.add("unreferenced", fmt.Sprintf("%d files, %s, that no resource needs; \"labshelf purge\" removes them", d.Unreferenced.Files, FormatBytes(d.Unreferenced.Bytes)))
	if d.Room != nil && d.Room.Bytes >= 0 {
		room := FormatBytes(d.Room.Bytes) + " for new files"
		if d.Room.Files >= 0 {
			room += fmt.Sprintf(", %d inodes", d.Room.Files)
		}
		t.add("room left", room)
	}
	if d.ClockBehind > 0 {
		t.add("clock", FormatDuration(time.Duration(d.ClockBehind)*time.Millisecond)+" behind the last change: set it right, changes go on meanwhile")
	}
	if d.Identity != "" { // an older service has none
		t.add("identity", d.Identity)
		epoch := fmt.Sprintf("%s, begun %s", d.Epoch.ID, d.Epoch.Began)
		if d.Epoch.Base != "" {
			epoch += fmt.Sprintf(" with the state of %s", d.Epoch.Base)
		}
		t.add("epoch", epoch)
	}
	for _, task := range slices.Sorted(maps.Keys(d.Background)) {
		t.add(task+" fails", d.Background[task])
	}
	return nil
}

// jsonFlag defines --json.
func jsonFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print JSON, for programs")
}

// writeJSON writes one value as a line of JSON.
func (p Process) writeJSON(value any) error {
	encoder := json.NewEncoder(p.Out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
