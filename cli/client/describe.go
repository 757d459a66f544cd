package client

import (
	"bytes"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/client/describe"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/client"
)

func describeCommand(p command.Process) *cobra.Command {
	var e describe.Edit
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "describe DATASPACE|SET|RESOURCE",
		Short: "Show or change the metadata of a dataspace, set or resource",
		Long: `describe shows the descriptive metadata of an object: tags and properties, and
for sets and dataspaces also creators, licence, keywords and other fields for a
publication. With flags it changes the given fields, and keeps all others.

--set NAME=TEXT sets a property to a string. --set NAME:=VALUE sets it to a
number, true, false, a list or a group in JSON, or to a quantity: a number with
its unit, such as 20 °C or 20,5 °C. Ambiguous numbers and unknown units are
rejected. A dot in NAME separates groups. --metadata merges a JSON file, in
which null removes a field (RFC 7396); use it to change fields such as creators.

If properties that the schema requires are missing, describe reports them on
standard error ("labshelf help schema").

Replacing a file keeps its metadata. If somebody else changes the tags at the
same time, describe repeats its change.`,
		Example: `  labshelf describe runs-2026:run-1.csv
  labshelf describe runs-2026:run-1.csv --tag raw --set operator=Ada
  labshelf describe runs-2026:run-1.csv --set "temperature:=20 °C" --set "n:=3"
  labshelf describe runs-2026:run-1.csv --unset operator --untag raw
  labshelf describe runs-2026 --metadata creators.json`,
		Args: command.Exactly(1, "a dataspace, a set or a resource, such as runs-2026:run-1.csv"),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		return describeOne(ctx, p, c, args[0], e, asJSON)
	})
	flags := cmd.Flags()
	flags.StringArrayVar(&e.Set, "set", nil, "set a property: `NAME=TEXT`, or NAME:=VALUE for a number, true, false, 20 °C or JSON")
	flags.StringArrayVar(&e.Unset, "unset", nil, "remove the property `NAME`")
	flags.StringArrayVar(&e.Tag, "tag", nil, "add the tag `WORD`")
	flags.StringArrayVar(&e.Untag, "untag", nil, "remove the tag `WORD`")
	flags.StringVar(&e.File, "metadata", "", "merge the JSON object in `FILE`, or - for standard input")
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, false, completion.Either(completion.Dataspaces(client.Active), completion.SetsOrResources))
}

// describedObject is an object of one of the three kinds.
type describedObject struct {
	what     string // for display
	record   any
	metadata client.Metadata
	etag     string
	held     func() (client.Conformance, error) // returns the problems found by the schema of the object; nil for dataspaces, which have no schema
	edit     func(patch client.Metadata, when ...client.Condition) (describedObject, error)
}

func describedDataspace(ctx context.Context, c *client.Client, d client.Dataspace) describedObject {
	return describedObject{"dataspace " + display.Printable(d.Name), d, d.Metadata, d.ETag, nil, func(patch client.Metadata, when ...client.Condition) (describedObject, error) {
		edited, err := c.Dataspaces.Edit(ctx, d.ID, client.DataspaceEdit{Metadata: patch}, when...)
		return describedDataspace(ctx, c, edited), err
	}}
}

func describedSet(ctx context.Context, c *client.Client, s client.Set) describedObject {
	held := func() (client.Conformance, error) { return c.Sets.Conformance(ctx, s.ID) }
	return describedObject{"set " + display.Printable(s.Name), s, s.Metadata, s.ETag, held, func(patch client.Metadata, when ...client.Condition) (describedObject, error) {
		edited, err := c.Sets.Edit(ctx, s.ID, client.SetEdit{Metadata: patch}, when...)
		return describedSet(ctx, c, edited), err
	}}
}

func describedResource(ctx context.Context, c *client.Client, r client.Resource) describedObject {
	held := func() (client.Conformance, error) { return c.Resources.Conformance(ctx, r.ID) }
	return describedObject{"resource " + display.Printable(r.Name), r, r.Metadata, r.ETag, held, func(patch client.Metadata, when ...client.Condition) (describedObject, error) {
		edited, err := c.Resources.Edit(ctx, r.ID, client.ResourceEdit{Metadata: patch}, when...)
		return describedResource(ctx, c, edited), err
	}}
}

// describedAs finds an object, and reads it with its metadata.
func describedAs(ctx context.Context, c *client.Client, ref string) (describedObject, error) {
	d, s, r, err := reference.FindAny(ctx, c, ref)
	switch {
	case err != nil:
		return describedObject{}, err
	case d != nil:
		read, err := c.Dataspaces.Get(ctx, d.ID)
		return describedDataspace(ctx, c, read), err
	case s != nil:
		read, err := c.Sets.Get(ctx, s.ID)
		return describedSet(ctx, c, read), err
	}
	read, err := c.Resources.Get(ctx, r.ID)
	return describedResource(ctx, c, read), err
}

// describeTries bounds the attempts to change tags that others change in the meantime.
const describeTries = 5

func describeOne(ctx context.Context, p command.Process, c *client.Client, ref string, e describe.Edit, asJSON bool) error {
	file, err := p.ReadJSON(e.File)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		o, err := describedAs(ctx, c, ref)
		switch {
		case err != nil:
			return err
		case e.IsZero():
			return showDescribed(p, o, asJSON)
		}
		patch, err := e.Patch(bytes.NewReader(file), o.metadata)
		if err != nil {
			return err
		}
		var when []client.Condition
		if e.ChangesTags() {
			when = append(when, client.IfMatch(o.etag))
		}
		edited, err := o.edit(patch, when...)
		var problem *client.Problem
		if errors.As(err, &problem) && problem.Code == "precondition_failed" && try < describeTries {
			continue
		}
		if err != nil {
			return err
		}
		if err := p.Done(edited.record, asJSON, "Described the %s.\n", edited.what); err != nil || asJSON {
			return err
		}
		for _, hint := range e.TextsLikeValues() {
			if _, err := display.Fprintln(p.Err, display.Printable(hint)); err != nil {
				return err
			}
		}
		return showProblems(p, edited)
	}
}

// showDescribed shows the metadata of an object, or its whole record in JSON.
func showDescribed(p command.Process, o describedObject, asJSON bool) error {
	if asJSON {
		return display.WriteJSON(p.Out, o.record)
	}
	rows, err := describe.Rows(o.metadata)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		if _, err := display.Fprintf(p.Err, "The %s has no metadata.\n", o.what); err != nil {
			return err
		}
		return showProblems(p, o)
	}
	var t display.Table
	for _, row := range rows {
		t.Add(row[0], row[1])
	}
	if err := t.Write(p.Out, display.Unlimited); err != nil {
		return err
	}
	return showProblems(p, o)
}

// showProblems prints what the object's schema requires and the object lacks. It is not part of the
// result, so a service without schemas, or one that does not answer any more, is not an error.
func showProblems(p command.Process, o describedObject) error {
	if o.held == nil {
		return nil
	}
	c, err := o.held()
	if err != nil || c.Schema == nil || !c.Incomplete {
		return nil
	}
	if _, err := display.Fprintf(p.Err, "The %s does not conform to the schema %s (version %d):\n", o.what, display.Printable(c.Schema.Name), c.Schema.Version); err != nil {
		return err
	}
	for _, problem := range c.Problems {
		if _, err := display.Fprintf(p.Err, "  %s\n", display.Printable(describe.Problem(problem))); err != nil {
			return err
		}
	}
	return nil
}
