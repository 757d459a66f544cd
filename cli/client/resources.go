package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

func rmCommand(p command.Process) *cobra.Command {
	var w whichFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rm RESOURCE... | --set SET... | --dataspace DATASPACE...",
		Short: "Delete resources, sets or dataspaces",
		Long: `rm deletes resources; with --set, sets with their content; with --dataspace,
dataspaces with their content. Deleted files cannot be downloaded. rm does not
ask for confirmation. It prints the "labshelf restore" command that undoes the
deletion, which works until a sysadmin purges old deletions. The records stay,
so that clients that follow changes see the deletion.

After an error rm continues with the next argument. Repeating it is harmless.`,
		Example: `  labshelf rm runs-2026:run-1.csv
  labshelf rm --set runs-2025`,
		Args:        w.args,
		Annotations: exit.Codes(exit.CodePartly, exit.CodeInterrupted),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		return p.Each(ctx, args, func(ref string) error {
			t, err := w.find(ctx, c, ref, client.Active)
			if err != nil {
				return w.hint(ctx, c, ref, err)
			}
			note := fmt.Sprintf("%s was already deleted.", t.what)
			if t.state != client.Deleted {
				if err := t.remove(ctx); err != nil {
					return err
				}
				note = fmt.Sprintf("Deleted %s%s. To restore it: labshelf restore %s", t.what, t.along, t.ref)
			}
			return reportTarget(ctx, p, t, note, asJSON)
		})
	})
	w.define(cmd.Flags())
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, true, w.offer(client.Active))
}

func restoreCommand(p command.Process) *cobra.Command {
	var w whichFlags
	var asJSON bool
	var number int64
	cmd := &cobra.Command{
		Use:   "restore RESOURCE... | --set SET... | --dataspace DATASPACE...",
		Short: "Restore deleted objects, or an earlier version of a file",
		Long: `restore restores resources; with --set, sets; with --dataspace, dataspaces. A
set or dataspace is restored with the content that was deleted with it. Content
that was deleted earlier stays deleted. Resources whose bytes were purged cannot
be restored.

If both a deleted and an active resource have the name, restore uses the deleted
one. "labshelf ls --deleted --long SET" lists deleted resources with their ids.

With --version N the resource gets back the file, name and description of
version N, as a new version; "labshelf versions" lists the versions.`,
		Example: `  labshelf restore runs-2026:run-1.csv
  labshelf restore runs-2026:run-1.csv --version 3
  labshelf restore --set runs-2025`,
		Args:        w.args,
		Annotations: exit.Codes(exit.CodePartly, exit.CodeInterrupted),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		if number != 0 {
			return restoreVersion(ctx, p, c, args[0], number, asJSON)
		}
		return p.Each(ctx, args, func(ref string) error {
			t, err := w.find(ctx, c, ref, client.Deleted)
			if err != nil {
				return w.hint(ctx, c, ref, err)
			}
			note := fmt.Sprintf("%s is not deleted.", t.what)
			if t.state == client.Deleted {
				if err := t.restore(ctx); err != nil {
					return err
				}
				note = fmt.Sprintf("Restored %s%s.", t.what, t.along)
				if t.movedTo != "" {
					note += fmt.Sprintf(" It had been moved: the moved resource, %s, stays, so there are two files now.", t.movedTo)
				}
			}
			return reportTarget(ctx, p, t, note, asJSON)
		})
	})
	w.define(cmd.Flags())
	cmd.Flags().Int64Var(&number, "version", 0, "make version `N` current again")
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("version") && (number < 1 || len(args) != 1 || w.set || w.dataspace) {
			return exit.Usagef("--version must be a number, 1 or more, and requires a single resource")
		}
		return nil
	}
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, true, w.offer(client.Deleted))
}

// restoreVersion makes a version of a resource the current one.
func restoreVersion(ctx context.Context, p command.Process, c *client.Client, ref string, number int64, asJSON bool) error {
	r, err := reference.FindResource(ctx, c, ref, client.Active)
	if err != nil {
		return err
	}
	restored, err := c.Versions.Restore(ctx, r.ID, number)
	if err != nil {
		return err
	}
	name := display.Printable(restored.Name)
	if restored.Version == r.Version {
		return p.Done(restored, asJSON, "%s already equals version %d.\n", name, number)
	}
	return p.Done(restored, asJSON, "Restored version %d of %s, as version %d.\n", number, name, restored.Version)
}

// reportTarget reports the result, as a sentence or as the new record in JSON.
func reportTarget(ctx context.Context, p command.Process, t target, note string, asJSON bool) error {
	if !asJSON {
		_, err := display.Fprintln(p.Out, note)
		return err
	}
	record, err := t.read(ctx)
	if err != nil {
		return err
	}
	return display.WriteJSON(p.Out, record)
}

// whichFlags select the kind of the arguments of rm and restore.
type whichFlags struct{ set, dataspace bool }

func (w *whichFlags) define(flags *pflag.FlagSet) {
	flags.BoolVar(&w.set, "set", false, "treat the arguments as sets")
	flags.BoolVar(&w.dataspace, "dataspace", false, "treat the arguments as dataspaces")
}

func (w *whichFlags) args(cmd *cobra.Command, args []string) error {
	if w.set && w.dataspace {
		return exit.Usagef("--set and --dataspace each select the kind of the arguments: give one or the other")
	}
	return command.AtLeast(1, "something to "+cmd.Name()+", such as runs-2026:run-1.csv")(cmd, args)
}

// offer offers records of that kind in a state.
func (w *whichFlags) offer(state string) completion.Offer {
	return func(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
		switch {
		case w.dataspace:
			return completion.Dataspaces(state)(ctx, c, typed)
		case w.set:
			return completion.Sets(state)(ctx, c, typed)
		}
		return completion.Resources(state)(ctx, c, typed)
	}
}

// target is an object that can be deleted and restored.
type target struct {
	what, ref, along string // text for display, argument of restore, and text about its content
	state, movedTo   string
	remove, restore  func(context.Context) error
	read             func(context.Context) (any, error)
}

// find returns the object that ref names, with preference for records in state.
func (w *whichFlags) find(ctx context.Context, c *client.Client, ref, state string) (target, error) {
	const along = " and its content"
	switch {
	case w.dataspace:
		d, err := reference.FindDataspace(ctx, c, ref, state)
		return targetOf(target{what: "the dataspace " + d.Name, ref: "--dataspace " + d.Name, along: along, state: d.State}, d.ID,
			actions[client.Dataspace]{c.Dataspaces.Delete, c.Dataspaces.Restore, c.Dataspaces.Get}), err
	case w.set:
		s, err := reference.FindSet(ctx, c, ref, state)
		return targetOf(target{what: "the set " + s.Name, ref: "--set " + s.Name, along: along, state: s.State}, s.ID,
			actions[client.Set]{c.Sets.Delete, c.Sets.Restore, c.Sets.Get}), err
	}
	r, err := reference.FindResource(ctx, c, ref, state)
	return targetOf(target{what: r.Name, ref: r.ID, state: r.State, movedTo: r.MovedTo}, r.ID,
		actions[client.Resource]{c.Resources.Delete, c.Resources.Restore, c.Resources.Get}), err
}

// hint replaces the error for a ref that is not a resource if it names a set or dataspace.
func (w *whichFlags) hint(ctx context.Context, c *client.Client, ref string, err error) error {
	var problem *client.Problem
	if w.set || w.dataspace || ctx.Err() != nil || command.Unreachable(err) || errors.As(err, &problem) {
		return err
	}
	d, s, _, other := reference.FindAny(ctx, c, ref)
	switch {
	case other != nil:
		return err
	case d != nil:
		return fmt.Errorf("%q is a dataspace; to include everything in it, use --dataspace", ref)
	case s != nil:
		return fmt.Errorf("%q is a set; to include everything in it, use --set", ref)
	}
	return err
}

// actions are the calls of the client for one kind of record.
type actions[T any] struct {
	remove  func(context.Context, string, ...client.Condition) error
	restore func(context.Context, string, ...client.Condition) (T, error)
	read    func(context.Context, string, ...client.Condition) (T, error)
}

// targetOf adds the calls for a record to a target.
func targetOf[T any](t target, id string, a actions[T]) target {
	t.what, t.ref = display.Printable(t.what), display.Printable(t.ref)
	t.remove = func(ctx context.Context) error { return a.remove(ctx, id) }
	t.restore = func(ctx context.Context) error { _, err := a.restore(ctx, id); return err }
	t.read = func(ctx context.Context) (any, error) { return a.read(ctx, id) }
	return t
}
