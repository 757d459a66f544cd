package find

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// IndexCommand returns the command index.
func IndexCommand(p command.Process) *cobra.Command {
	return p.Branch("index", "Show and rebuild the search index", indexStatusCommand(p), indexRebuildCommand(p))
}

// indexPoll is the interval at which the state of the index is read.
const indexPoll = 100 * time.Millisecond

func indexStatusCommand(p command.Process) *cobra.Command {
	var wait, asJSON bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the state of the search index (sysadmins)",
		Long: `status shows the state of the search index: current, behind, building (it is
being rebuilt, and searches find less) or failing (it cannot be written; the
service tries again). If it is failing, the exit code is 1.

With --wait, status returns when searches find all earlier changes, including
the text of files. If this takes longer than --timeout, it fails.`,
		Example: "  labshelf index status\n  labshelf put runs runs-2026 && labshelf index status --wait",
		Args:    cobra.NoArgs,
	}
	flags := cmd.Flags()
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if flags.Changed("timeout") && (!wait || timeout <= 0) {
			return exit.Usagef("--timeout requires --wait, and must be greater than 0")
		}
		return nil
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		x, err := c.Maintenance.Index(ctx)
		if err == nil && wait {
			x, err = awaitIndex(ctx, c, x, timeout)
		}
		if err != nil {
			return err
		}
		if asJSON {
			err = display.WriteJSON(p.Out, x)
		} else {
			err = showIndex(p, x)
		}
		if err == nil && x.State == client.IndexFailing {
			err = errors.New("the index is failing")
		}
		return err
	})
	flags.BoolVar(&wait, "wait", false, "wait until searches find all earlier changes")
	flags.DurationVar(&timeout, "timeout", 5*time.Minute, "wait for `DURATION` at most, such as 30s or 10m")
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, false)
}

// awaitIndex waits until the index contains every commit made before x, and returns its new state.
func awaitIndex(ctx context.Context, c *client.Client, x client.Index, timeout time.Duration) (client.Index, error) {
	committed := x.Entries + x.Behind
	end := time.NewTimer(timeout)
	defer end.Stop()
	poll := time.NewTicker(indexPoll)
	defer poll.Stop()
	for x.State == client.IndexBuilding || x.Entries < committed || x.Texts != client.IndexCurrent || x.Schemas == client.IndexBehind {
		select {
		case <-poll.C:
		case <-end.C:
			return x, fmt.Errorf("after %s the index is not current: it is %s, %d changes behind%s", display.Duration(timeout), x.State, x.Behind, because(x))
		case <-ctx.Done():
			return x, ctx.Err()
		}
		var err error
		if x, err = c.Maintenance.Index(ctx); err != nil {
			return x, err
		}
	}
	return x, nil
}

// because returns the reason why an index is failing, as the end of a sentence.
func because(x client.Index) string {
	if x.Failure == "" {
		return ""
	}
	return ": " + display.Printable(x.Failure)
}

func showIndex(p command.Process, x client.Index) error {
	t := display.Table{}
	t.Add("state", x.State+because(x))
	t.Add("changes", fmt.Sprintf("%d followed, %d remaining", x.Entries, x.Behind))
	texts := "of all files"
	if x.Texts != client.IndexCurrent {
		texts = "of some files still missing"
	}
	t.Add("texts", texts)
	if x.Schemas == client.IndexBehind {
		t.Add("schemas", "is:incomplete does not consider their last change yet")
	}
	t.Add("documents", strconv.FormatInt(x.Documents, 10))
	t.Add("size", display.Bytes(x.Bytes))
	return t.Write(p.Out, display.Unlimited)
}

func indexRebuildCommand(p command.Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Delete the search index and rebuild it (sysadmins)",
		Long: `rebuild deletes the search index. The service rebuilds it in the background,
from its records and files. Until then, searches find less; nothing else
changes. The service detects and rebuilds a damaged index without this command.`,
		Example: "  labshelf index rebuild && labshelf index status --wait",
		Args:    cobra.NoArgs,
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		x, err := c.Maintenance.RebuildIndex(ctx)
		if err != nil {
			return err
		}
		return p.Done(x, asJSON, "The index is being rebuilt: \"labshelf index status --wait\" returns when everything can be found again.\n")
	})
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, false)
}
