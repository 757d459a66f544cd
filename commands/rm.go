package commands

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"labshelf/client"
)

func rmCommand(p Process) *cobra.Command {
	var w whichFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rm RESOURCE... | --set SET... | --dataspace DATASPACE...",
		Short: "Delete resources, sets or dataspaces, which restore brings back",
		Long: `rm deletes resources; with --set, sets with all that is in them; with
--dataspace, dataspaces with all that is in them. Nobody can download what is
deleted. It asks no question, and says how "labshelf restore" brings it back,
which works until a sysadmin purges what was deleted long ago. Their records
stay, so that those who follow the changes learn of it.

It goes on after what cannot be deleted. What is deleted already stays so.`,
		Example: `  labshelf rm runs-2026:run-1.csv
  labshelf rm --set runs-2025`,
		Args:        w.args,
		Annotations: p.ExitCodes(6, 130),
	}
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		return p.each(ctx, args, func(ref string) error {
			t, err := w.find(ctx, c, ref, client.Active)
			if err != nil {
				return w.hint(ctx, c, ref, err)
			}
			note := fmt.Sprintf("%s was deleted already.", t.what)
			if t.state != client.Deleted {
				if err := t.remove(ctx); err != nil {
					return err
				}
				note = fmt.Sprintf("Deleted %s%s. To bring it back: labshelf restore %s", t.what, t.along, t.ref)
			}
			return p.told(ctx, t, note, asJSON)
		})
	})
	w.define(cmd.Flags())
	jsonFlag(cmd, &asJSON)
	return p.completes(cmd, true, w.offer(client.Active))
}

func restoreCommand(p Process) *cobra.Command {
	var w whichFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "restore RESOURCE... | --set SET... | --dataspace DATASPACE...",
		Short: "Bring back what was deleted",
		Long: `restore brings back resources; with --set, sets, and with --dataspace,
dataspaces, each with exactly what its deletion took along. What was deleted
before that stays deleted. What a purge has taken the bytes of cannot be brought
back.

Where a name fits a deleted resource and one that is not, the deleted one is
meant. "labshelf ls --deleted --long SET" lists the deleted ones with their ids.`,
		Example: `  labshelf restore runs-2026:run-1.csv
  labshelf restore --set runs-2025`,
		Args:        w.args,
		Annotations: p.ExitCodes(6, 130),
	}
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		return p.each(ctx, args, func(ref string) error {
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
			}
			return p.told(ctx, t, note, asJSON)
		})
	})
	w.define(cmd.Flags())
	jsonFlag(cmd, &asJSON)
	return p.completes(cmd, true, w.offer(client.Deleted))
}

// told says what was done, or shows the record as it is then.
func (p Process) told(ctx context.Context, t target, note string, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Fprintln(p.Out, note)
		return err
	}
	record, err := t.read(ctx)
	if err != nil {
		return err
	}
	return p.writeJSON(record)
}

// whichFlags say what the arguments are that are to be deleted or restored.
type whichFlags struct{ set, dataspace bool }

func (w *whichFlags) define(flags *pflag.FlagSet) {
	flags.BoolVar(&w.set, "set", false, "the arguments are sets")
	flags.BoolVar(&w.dataspace, "dataspace", false, "the arguments are dataspaces")
}

func (w *whichFlags) args(cmd *cobra.Command, args []string) error {
	if w.set && w.dataspace {
		return usagef("--set and --dataspace each say what the arguments are: give one or the other")
	}
	return atLeast(1, "something to "+cmd.Name()+", such as runs-2026:run-1.csv")(cmd, args)
}

// offer offers what the flags say, in that state.
func (w *whichFlags) offer(state string) offer {
	return func(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
		switch {
		case w.dataspace:
			return dataspacesIn(state)(ctx, c, typed)
		case w.set:
			return setsIn(state)(ctx, c, typed)
		}
		return resourcesIn(state)(ctx, c, typed)
	}
}

// target is something that can be deleted and restored.
type target struct {
	what, ref, along string // in words, as an argument of restore, and what shares its fate, in words
	state            string
	remove, restore  func(context.Context) error
	read             func(context.Context) (any, error)
}

// find finds what ref names, among those in state first.
func (w *whichFlags) find(ctx context.Context, c *client.Client, ref, state string) (target, error) {
	const along = " and what was in it"
	switch {
	case w.dataspace:
		d, err := findDataspaceIn(ctx, c, ref, state)
		return targetOf(target{what: "the dataspace " + d.Name, ref: "--dataspace " + d.Name, along: along, state: d.State}, d.ID,
			actions[client.Dataspace]{c.DeleteDataspace, c.RestoreDataspace, c.Dataspace}), err
	case w.set:
		s, err := findSetIn(ctx, c, ref, state)
		return targetOf(target{what: "the set " + s.Name, ref: "--set " + s.Name, along: along, state: s.State}, s.ID,
			actions[client.Set]{c.DeleteSet, c.RestoreSet, c.Set}), err
	}
	r, err := findResourceIn(ctx, c, ref, state)
	return targetOf(target{what: r.Name, ref: r.ID, state: r.State}, r.ID,
		actions[client.Resource]{c.DeleteResource, c.RestoreResource, c.Resource}), err
}

// hint adds to the error about what is no resource how to say that a set or dataspace is meant.
func (w *whichFlags) hint(ctx context.Context, c *client.Client, ref string, err error) error {
	var problem *client.Problem
	if w.set || w.dataspace || ctx.Err() != nil || unreachable(err) || errors.As(err, &problem) {
		return err
	}
	d, s, _, other := findAny(ctx, c, ref)
	switch {
	case other != nil:
		return err
	case d != nil:
		return fmt.Errorf("%q is a dataspace; say so with --dataspace, if all that is in it is meant", ref)
	case s != nil:
		return fmt.Errorf("%q is a set; say so with --set, if all that is in it is meant", ref)
	}
	return err
}

// actions are the calls for one kind of record.
type actions[T any] struct {
	remove  func(context.Context, string, ...client.Condition) error
	restore func(context.Context, string, ...client.Condition) (T, error)
	read    func(context.Context, string, ...client.Condition) (T, error)
}

// targetOf adds to a target what can be done with it.
func targetOf[T any](t target, id string, a actions[T]) target {
	t.what, t.ref = printable(t.what), printable(t.ref)
	t.remove = func(ctx context.Context) error { return a.remove(ctx, id) }
	t.restore = func(ctx context.Context) error { _, err := a.restore(ctx, id); return err }
	t.read = func(ctx context.Context) (any, error) { return a.read(ctx, id) }
	return t
}
