package commands

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"labshelf/client"
)

func statusCommand(p Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how a service is, and who you are there",
		Long: `status asks how the service is: OK, READ-ONLY (it serves, and stores nothing new)
or FAILING. With a key it also says whose key that is; a sysadmin sees why the
service is not OK.`,
		Args: cobra.NoArgs,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := p.Connect(cmd.Flags(), true)
		if err != nil {
			return err
		}
		defer c.Close()
		return p.UntilSignal(func(ctx context.Context) error { return p.status(ctx, c, asJSON) })
	}
	p.RemoteFlags(cmd.Flags())
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (p Process) status(ctx context.Context, c *client.Client, asJSON bool) error {
	s, err := c.Status(ctx)
	if err != nil {
		return err
	}
	me, err := c.Me(ctx)
	var problem *client.Problem
	if err != nil && !(errors.As(err, &problem) && problem.Status == 401) {
		return err
	}
	if asJSON {
		return p.writeJSON(struct {
			Server string `json:"server"`
			User   string `json:"user,omitempty"`
			client.Status
		}{c.Base(), me.Username, s})
	}
	t := table{}
	t.add("status", s.Status)
	t.add("server", c.Base())
	t.add("host", s.Hostname)
	t.add("version", s.Version)
	if me.Username != "" {
		t.add("you are", me.Username)
	}
	if len(s.Detail) > 0 && s.Status != "OK" {
		t.add("detail", string(s.Detail))
	}
	return t.write(p.Out, unlimited)
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
