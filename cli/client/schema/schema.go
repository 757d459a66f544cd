// Package schema has the commands for the schemas of a dataspace.
package schema

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// Command returns the command schema with its subcommands.
func Command(p command.Process) *cobra.Command {
	cmd := p.Branch("schema", "Create, change and list the rules for metadata in a dataspace",
		newCommand(p), listCommand(p), showCommand(p), editCommand(p), versionsCommand(p), removeCommand(p), restoreCommand(p))
	cmd.Long = `schema manages the JSON Schemas of a dataspace. A schema defines the properties
of its sets, or of its files of some or all types. At most one schema applies to
each object. By default a schema only warns. With --enforce, it rejects changes
of properties that violate it; uploads are never rejected. "labshelf describe"
sets properties and shows missing ones, and "labshelf find is:incomplete" finds
incomplete objects. SCHEMA is DATASPACE/NAME or an id.`
	return cmd
}

// schemaFlags are the fields of a schema except its text.
type schemaFlags struct {
	title, description string
	types              []string
	enforce            bool
}

func (f *schemaFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.title, "title", "", command.TitleHelp)
	flags.StringVar(&f.description, "description", "", command.DescriptionHelp)
	flags.StringArrayVar(&f.types, "type", nil, "only for files of this `TYPE`: text/csv, image/*, a format such as csv, or an extension such as .tif; may be repeated (default: all files)")
	flags.BoolVar(&f.enforce, "enforce", false, "reject changes of properties that violate the schema")
}

func newCommand(p command.Process) *cobra.Command {
	var f schemaFlags
	var purpose string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "new DATASPACE/NAME FILE",
		Short: "Create a schema from a JSON Schema in a file",
		Long: `new creates a schema. FILE has a JSON Schema (2020-12) for the properties; - is
standard input. NAME has 2 to 100 characters: a-z, 0-9, - and _. It requires the
role admin in the dataspace.`,
		Example: `  labshelf schema new lab-one/measurement measurement.json --type text/csv
  labshelf schema new lab-one/campaign campaign.json --for sets --enforce`,
		Args: command.Exactly(2, "a dataspace and a name, such as lab-one/measurement, and a file with a JSON Schema"),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		dataspace, name, ok := cutLast(args[0], "/")
		if !ok {
			return exit.Usagef("the new schema must be DATASPACE/NAME, such as lab-one/measurement, not %q", args[0])
		}
		text, err := readSchema(p, args[1])
		if err != nil {
			return err
		}
		d, err := reference.FindDataspace(ctx, c, dataspace, client.Active)
		if err != nil {
			return err
		}
		made, err := c.Schemas.Create(ctx, d.ID, client.NewSchema{
			Name: name, Schema: text, For: purpose, Types: f.types, Title: f.title, Description: f.description, Enforce: f.enforce,
		})
		if err != nil {
			return err
		}
		return p.Done(made, asJSON, "Created the schema %s/%s.\n", display.Printable(d.Name), display.Printable(made.Name))
	})
	f.define(cmd)
	cmd.Flags().StringVar(&purpose, "for", client.ForFiles, "`KIND` of objects to which the schema applies: files or sets")
	command.JSONFlag(cmd, &asJSON)
	p.CompletesFlag(cmd, "for", completion.Words(client.ForFiles, client.ForSets))
	return cmd
}

// cutLast splits a text at the last separator in it.
func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}

// readSchema reads a JSON Schema. The service validates it.
func readSchema(p command.Process, path string) (json.RawMessage, error) {
	text, err := p.ReadJSON(path)
	if err == nil && !json.Valid(text) {
		err = exit.Usagef("%s must contain a JSON Schema, but it is not JSON", path)
	}
	return text, err
}

func listCommand(p command.Process) *cobra.Command {
	var f command.ViewFlags
	cmd := &cobra.Command{
		Use:   "ls DATASPACE",
		Short: "List the schemas of a dataspace",
		Long:  `ls lists the schemas of a dataspace that you can read, the oldest first.`,
		Args:  command.Exactly(1, "one dataspace"),
	}
	cmd.PreRunE = func(*cobra.Command, []string) error { return f.Check() }
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		d, err := reference.FindDataspace(ctx, c, args[0], client.Active)
		if err != nil {
			return err
		}
		all, err := c.Schemas.List(ctx, d.ID)
		all = slices.DeleteFunc(all, func(s client.Schema) bool { return f.State() != client.All && s.State != f.State() })
		return command.Show(p, command.Sequence(all, err), schemaColumns(), f.View("The dataspace has no schemas."))
	})
	f.Define(cmd)
	return p.Completes(cmd, false, completion.Dataspaces(client.Active))
}

func schemaColumns() []command.Column[client.Schema] {
	type s = client.Schema
	return []command.Column[s]{
		{Head: "NAME", Cell: func(s s) string { return s.Name }},
		{Head: "TITLE", Cell: func(s s) string { return s.Title }},
		{Head: "FOR", Cell: schemaPurpose},
		{Head: "VERSION", Cell: func(s s) string { return fmt.Sprint(s.Version) }},
		{Head: "ENFORCED", Cell: func(s s) string {
			if s.Enforce {
				return "yes"
			}
			return ""
		}},
		{Head: "MODIFIED", Cell: func(s s) string { return display.Time(s.Modified.Time) }},
		{Head: "STATE", Only: command.InState, Cell: func(s s) string { return s.State }},
		{Head: "ID", Only: command.InLong, Cell: func(s s) string { return s.ID }},
	}
}

// schemaPurpose returns the kind of objects that a schema describes.
func schemaPurpose(s client.Schema) string {
	if len(s.Types) > 0 {
		return strings.Join(s.Types, " ")
	}
	return s.For
}

func showCommand(p command.Process) *cobra.Command {
	var number int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show SCHEMA",
		Short: "Print the JSON Schema of a schema, for editing",
		Long: `show prints the JSON Schema, which you can edit and pass to "labshelf schema
edit --schema". --json prints the whole record of the schema.`,
		Example: `  labshelf schema show lab-one/measurement > measurement.json
  labshelf schema show lab-one/measurement --version 1`,
		Args: command.Exactly(1, "one schema, such as lab-one/measurement"),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		s, err := findSchema(ctx, c, args[0], client.Active)
		if err != nil {
			return err
		}
		text, record := s.Schema, any(s)
		if cmd.Flags().Changed("version") {
			v, err := c.Schemas.Version(ctx, s.ID, number)
			if err != nil {
				return err
			}
			text, record = v.Schema, v
		}
		indented, err := json.MarshalIndent(text, "", "  ")
		if err != nil {
			return err
		}
		return p.Done(record, asJSON, "%s\n", indented)
	})
	cmd.Flags().IntVar(&number, "version", 0, "print version `N`")
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, false, schemasOffered)
}

func editCommand(p command.Process) *cobra.Command {
	var f schemaFlags
	var file, name string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "edit SCHEMA",
		Short: "Change a schema",
		Long: `edit changes the fields given by flags and keeps all others. A changed JSON
Schema creates a new version; objects with an older version are still checked
against the older one. --type all makes it a schema for all files. It requires
the role admin in the dataspace.`,
		Example: `  labshelf schema edit lab-one/measurement --schema measurement.json
  labshelf schema edit lab-one/measurement --enforce=false --type csv`,
		Args: command.Exactly(1, "one schema, such as lab-one/measurement"),
	}
	flags := cmd.Flags()
	cmd.PreRunE = command.WantOne(flags, "schema", "name", "title", "description", "type", "enforce")
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		edit := client.SchemaEdit{
			Name: command.Given(flags, "name", &name), Title: command.Given(flags, "title", &f.title), Description: command.Given(flags, "description", &f.description),
			Enforce: command.Given(flags, "enforce", &f.enforce),
		}
		if flags.Changed("type") {
			types := slices.DeleteFunc(slices.Clone(f.types), func(word string) bool { return word == client.All })
			edit.Types = &types
		}
		var err error
		if flags.Changed("schema") {
			if edit.Schema, err = readSchema(p, file); err != nil {
				return err
			}
		}
		s, err := findSchema(ctx, c, args[0], client.Active)
		if err != nil {
			return err
		}
		if s, err = c.Schemas.Edit(ctx, s.ID, edit); err != nil {
			return err
		}
		return p.Done(s, asJSON, "Changed the schema %s; its version is %d.\n", display.Printable(s.Name), s.Version)
	})
	f.define(cmd)
	flags.StringVar(&file, "schema", "", "new JSON Schema in `FILE`, or - for standard input")
	flags.StringVar(&name, "name", "", "rename the schema to `NAME`")
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, false, schemasOffered)
}

func versionsCommand(p command.Process) *cobra.Command {
	return onSchema(p, "versions SCHEMA", "List the versions of a schema", `versions lists the last 50 versions of a schema, the newest first. "labshelf
schema show --version N" prints one.`, client.Active,
		func(ctx context.Context, c *client.Client, s client.Schema, asJSON bool) error {
			all, err := c.Schemas.Versions(ctx, s.ID)
			who := command.UserNames{Client: c, Names: map[string]string{}}
			type v = client.SchemaVersion
			return command.Show(p, command.Sequence(all, err), []command.Column[v]{
				{Head: "VERSION", Cell: func(v v) string { return fmt.Sprint(v.Version) }},
				{Head: "MADE", Cell: func(v v) string { return display.Time(v.Created.Time) }},
				{Head: "BY", Cell: func(v v) string { return who.Name(ctx, v.CreatedBy) }},
			}, command.View{JSON: asJSON})
		})
}

func removeCommand(p command.Process) *cobra.Command {
	return onSchema(p, "rm SCHEMA", "Delete a schema", `rm deletes a schema: it no longer applies to any object. Existing properties
stay, and "labshelf schema restore" restores the schema.`, client.Active,
		func(ctx context.Context, c *client.Client, s client.Schema, asJSON bool) error {
			if err := c.Schemas.Delete(ctx, s.ID); err != nil {
				return err
			}
			return p.Done(s, asJSON, "Deleted the schema %s. To restore it: labshelf schema restore %s\n", display.Printable(s.Name), display.Printable(s.ID))
		})
}

func restoreCommand(p command.Process) *cobra.Command {
	return onSchema(p, "restore SCHEMA", "Restore a deleted schema", `restore restores a deleted schema.`, client.Deleted,
		func(ctx context.Context, c *client.Client, s client.Schema, asJSON bool) error {
			restored, err := c.Schemas.Restore(ctx, s.ID)
			if err != nil {
				return err
			}
			return p.Done(restored, asJSON, "Restored the schema %s.\n", display.Printable(s.Name))
		})
}

// onSchema returns a command for one schema, by default one in a state.
func onSchema(p command.Process, use, short, long, state string, run func(context.Context, *client.Client, client.Schema, bool) error) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: command.Exactly(1, "one schema, such as lab-one/measurement")}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		s, err := findSchema(ctx, c, args[0], state)
		if err != nil {
			return err
		}
		return run(ctx, c, s, asJSON)
	})
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, false, schemasOffered)
}

// findSchema returns the schema that ref names: by its id, or as DATASPACE/NAME. Among several with
// one name, schemas in state take precedence, and among those the last one.
func findSchema(ctx context.Context, c *client.Client, ref, state string) (found client.Schema, err error) {
	dataspace, name, ok := cutLast(ref, "/")
	if !ok {
		return c.Schemas.Get(ctx, ref)
	}
	d, err := reference.FindDataspace(ctx, c, dataspace, client.Active)
	if err != nil {
		return found, err
	}
	all, err := c.Schemas.List(ctx, d.ID)
	if err != nil {
		return found, err
	}
	for _, s := range all {
		if s.Name == name && (found.ID == "" || s.State == state || found.State != state) {
			found = s
		}
	}
	if found.ID == "" {
		err = fmt.Errorf("the dataspace %s has no schema %q; \"labshelf schema ls %[1]s\" lists them", display.Printable(d.Name), name)
	}
	return found, err
}

// schemasOffered completes DATASPACE/NAME once the dataspace is typed.
func schemasOffered(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
	dataspace, _, ok := cutLast(typed, "/")
	if !ok {
		return completion.Dataspaces(client.Active)(ctx, c, typed)
	}
	d, err := reference.FindDataspace(ctx, c, dataspace, client.Active)
	if err != nil {
		return nil
	}
	all, err := c.Schemas.List(ctx, d.ID)
	return completion.Matching(command.Sequence(all, err), typed, func(s client.Schema) (string, string) { return dataspace + "/" + s.Name, s.Title })
}
