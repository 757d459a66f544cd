package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"labshelf/cli/client/completion"
	"labshelf/cli/client/describe"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

func describeCommand(p Process) *cobra.Command {
	var e describe.Edit
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "describe DATASPACE|SET|RESOURCE",
		Short: "Show or change what is said about a dataspace, set or resource",
		Long: `describe shows the descriptive metadata of an object: tags, properties, and
of sets and dataspaces creators, licence, keywords and what else a publication
needs. With flags it changes them, and leaves all others as they are.

--set NAME=TEXT sets a property to a text. --set NAME:=VALUE sets it to a
number, true, false, a list or a group in JSON, or to a quantity: a number with
its unit, such as 20 °C or 20,5 °C. A number that can be read in two ways and a
unit that is not known are refused. A dot in NAME leads into a group. --metadata
merges a JSON file, in which null removes (RFC 7396); members such as creators
are changed so.

What the schema of the dataspace asks for and is missing is named on standard
error ("labshelf help schema").

Replacing a file keeps what is said about it. A change is refused where somebody
else has changed the tags in the same moment; it is then tried again.`,
		Example: `  labshelf describe runs-2026:run-1.csv
  labshelf describe runs-2026:run-1.csv --tag raw --set operator=Ada
  labshelf describe runs-2026:run-1.csv --set "temperature:=20 °C" --set "n:=3"
  labshelf describe runs-2026:run-1.csv --unset operator --untag raw
  labshelf describe runs-2026 --metadata creators.json`,
		Args: exactly(1, "a dataspace, a set or a resource, such as runs-2026:run-1.csv"),
	}
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		return p.describe(ctx, c, args[0], e, asJSON)
	})
	flags := cmd.Flags()
	flags.StringArrayVar(&e.Set, "set", nil, "set a property: `NAME=TEXT`, or NAME:=VALUE for a number, true, false, 20 °C or JSON")
	flags.StringArrayVar(&e.Unset, "unset", nil, "remove the property `NAME`")
	flags.StringArrayVar(&e.Tag, "tag", nil, "add the tag `WORD`")
	flags.StringArrayVar(&e.Untag, "untag", nil, "remove the tag `WORD`")
	flags.StringVar(&e.File, "metadata", "", "merge the JSON object in `FILE`, or - for standard input")
	jsonFlag(cmd, &asJSON)
	return p.completes(cmd, false, completion.Either(completion.Dataspaces(client.Active), completion.SetsOrResources))
}

// describedObject is an object of one of the three kinds.
type describedObject struct {
	what     string // for people
	record   any
	metadata client.Metadata
	etag     string
	held     func() (client.Conformance, error) // what the schema that applies says; nil: of dataspaces none does
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
	d, s, r, err := findAny(ctx, c, ref)
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

// describeTries is how often a change of tags is tried that others have changed meanwhile.
const describeTries = 5

func (p Process) describe(ctx context.Context, c *client.Client, ref string, e describe.Edit, asJSON bool) error {
	file, err := p.readPatch(e.File)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		o, err := describedAs(ctx, c, ref)
		switch {
		case err != nil:
			return err
		case e.IsZero():
			return p.showDescribed(o, asJSON)
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
		if err := p.done(edited.record, asJSON, "Described the %s.\n", edited.what); err != nil || asJSON {
			return err
		}
		for _, hint := range e.TextsLikeValues() {
			if _, err := display.Fprintln(p.Err, display.Printable(hint)); err != nil {
				return err
			}
		}
		return p.showProblems(edited)
	}
}

// readPatch reads the JSON that a flag names, without a byte order mark; nothing for none.
func (p Process) readPatch(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	text, err := p.readUpTo(path, 1<<20)
	return bytes.TrimPrefix(text, []byte("\ufeff")), err
}

// readUpTo reads a file, or standard input for "-", of at most so many bytes, as the service takes.
func (p Process) readUpTo(path string, most int) ([]byte, error) {
	from := p.In
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // it was only read
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, int64(most)+1))
	if err == nil && len(text) > most {
		err = exit.Usagef("%s has more than %d bytes", path, most)
	}
	return text, err
}

// showDescribed shows the metadata of an object, or its whole record as JSON.
func (p Process) showDescribed(o describedObject, asJSON bool) error {
	if asJSON {
		return display.WriteJSON(p.Out, o.record)
	}
	rows, err := describe.Rows(o.metadata)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		if _, err := display.Fprintf(p.Err, "Nothing is said about the %s.\n", o.what); err != nil {
			return err
		}
		return p.showProblems(o)
	}
	var t display.Table
	for _, row := range rows {
		t.Add(row[0], row[1])
	}
	if err := t.Write(p.Out, display.Unlimited); err != nil {
		return err
	}
	return p.showProblems(o)
}

// showProblems tells what the schema of an object asks for and is not there. It is no part of the
// result: a service that knows no schemas, or does not answer any more, is no failure.
func (p Process) showProblems(o describedObject) error {
	if o.held == nil {
		return nil
	}
	c, err := o.held()
	if err != nil || c.Schema == nil || !c.Incomplete {
		return nil
	}
	if _, err := display.Fprintf(p.Err, "The %s is not what the schema %s (version %d) asks for:\n", o.what, display.Printable(c.Schema.Name), c.Schema.Version); err != nil {
		return err
	}
	for _, problem := range c.Problems {
		if _, err := display.Fprintf(p.Err, "  %s\n", display.Printable(describe.Problem(problem))); err != nil {
			return err
		}
	}
	return nil
}
