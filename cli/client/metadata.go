package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

func metadataCommand(p command.Process) *cobra.Command {
	cmd := p.Branch("metadata", "Export and import the metadata of a set as a spreadsheet",
		metadataExportCommand(p), metadataImportCommand(p), metadataEditsCommand(p), metadataUndoCommand(p))
	cmd.Long = `metadata exports the tags and properties of the files of a set as CSV, with a
row for each file. You can edit the CSV in a spreadsheet, and import it again.
"labshelf help csv" describes the columns. To change one file, use "labshelf
describe".`
	return cmd
}

func metadataExportCommand(p command.Process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export SET FILE",
		Short: "Write the metadata of the files of a set as CSV",
		Long: `export writes a row for each active file of a set to FILE, sorted by name, with
a column for each property. It replaces FILE only when the export is complete; -
is standard output.`,
		Example: `  labshelf metadata export lab-one/runs runs.csv
  labshelf metadata export runs -`,
		Args: command.Exactly(2, "a set, such as lab-one/runs, and a file to write, or - for standard output"),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		set, err := reference.FindSet(ctx, c, args[0], client.Active)
		if err != nil {
			return err
		}
		file, err := c.Edits.CSV(ctx, set.ID)
		if err != nil {
			return err
		}
		write := func(w io.Writer) error {
			_, err := w.Write(file)
			return err
		}
		if args[1] == "-" {
			return write(p.Out)
		}
		return command.ReplaceFile(args[1], write)
	})
	return p.CompletesThenFile(cmd, completion.Sets(client.Active))
}

func metadataImportCommand(p command.Process) *cobra.Command {
	var preview, asJSON bool
	cmd := &cobra.Command{
		Use:   "import SET FILE",
		Short: "Import an edited CSV with the metadata of files",
		Long: `import changes the files of a set according to the rows of FILE; - is standard
input. A new column adds a property, and an empty cell removes it. Files without
a row, and properties without a column, do not change. All rows are checked
first: if a row has a problem, or its file has changed since the export, nothing
is changed. --preview shows the changes without making them. "labshelf metadata
undo" undoes an import.`,
		Example: `  labshelf metadata import lab-one/runs runs.csv --preview
  labshelf metadata import lab-one/runs runs.csv`,
		Args: command.Exactly(2, "a set, such as lab-one/runs, and a CSV file"),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		file, err := p.ReadUpTo(args[1], 32<<20)
		if err != nil {
			return err
		}
		set, err := reference.FindSet(ctx, c, args[0], client.Active)
		if err != nil {
			return err
		}
		outcome, err := c.Edits.ByCSV(ctx, set.ID, file, preview)
		if err != nil {
			return err
		}
		return showOutcome(p, outcome, preview, asJSON)
	})
	cmd.Flags().BoolVar(&preview, "preview", false, "change nothing; show the changes and the problems")
	command.JSONFlag(cmd, &asJSON)
	return p.CompletesThenFile(cmd, completion.Sets(client.Active))
}

// errRefused is the error of a preview with problems.
var errRefused = exit.Usagef("the file has problems, so nothing would be changed")

// showOutcome prints the changes of a bulk edit or a preview. A preview with problems fails as the
// edit would.
func showOutcome(p command.Process, o client.EditOutcome, preview, asJSON bool) error {
	refused := preview && len(o.Problems) > 0
	if asJSON {
		if err := display.WriteJSON(p.Out, o); err != nil || !refused {
			return err
		}
		return errRefused
	}
	if preview {
		if err := showChanges(p, o); err != nil {
			return err
		}
	}
	for _, problem := range o.Problems {
		if _, err := display.Fprintf(p.Err, "%s%s\n", inSheet(problem), display.Printable(problem.Message)); err != nil {
			return err
		}
	}
	switch {
	case refused:
		return errRefused
	case preview:
		return p.Done(nil, false, "Would change %s of %d.\n", display.Files(o.Changed), o.Rows)
	case o.Edit == nil:
		return p.Done(nil, false, "Nothing to change.\n")
	}
	return p.Done(nil, false, "Changed %s. To undo it: labshelf metadata undo %s\n", display.Files(o.Changed), o.Edit.ID)
}

// inSheet returns the place of a problem in a spreadsheet.
func inSheet(problem client.EditProblem) string {
	switch {
	case problem.Row > 0 && problem.Column != "":
		return fmt.Sprintf("row %d, %s: ", problem.Row, display.Printable(problem.Column))
	case problem.Row > 0:
		return fmt.Sprintf("row %d: ", problem.Row)
	}
	return ""
}

// showChanges lists changes as a table.
func showChanges(p command.Process, o client.EditOutcome) error {
	t := display.Table{Head: []string{"FILE", "WHAT", "BEFORE", "AFTER"}}
	for _, change := range o.Changes {
		for _, field := range change.Fields {
			t.Add(display.Printable(change.Name), display.Printable(field.Name), valueShown(field.Before), valueShown(field.After))
		}
	}
	if len(o.Changes) == 0 {
		return nil
	}
	return t.Write(p.Out, display.Width(p.Out))
}

// valueShown formats a JSON value in one line; a missing value is "".
func valueShown(value json.RawMessage) string {
	if string(value) == "null" {
		return ""
	}
	var line bytes.Buffer
	if json.Compact(&line, value) != nil {
		return display.Printable(string(value))
	}
	return display.Printable(line.String())
}

func metadataEditsCommand(p command.Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "edits SET",
		Short: "List the latest bulk edits of a set",
		Long: `edits lists the last hundred bulk edits of a set, the newest first: imports of
CSV, edits of selected files, and undone edits.`,
		Args: command.Exactly(1, "one set, such as lab-one/runs"),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		set, err := reference.FindSet(ctx, c, args[0], client.Active)
		if err != nil {
			return err
		}
		edits, err := c.Edits.List(ctx, set.ID)
		who := command.UserNames{Client: c, Names: map[string]string{}}
		type e = client.Edit
		return command.Show(p, command.Sequence(edits, err), []command.Column[e]{
			{Head: "EDIT", Cell: func(e e) string { return e.ID }},
			{Head: "BY", Cell: func(e e) string { return display.Printable(who.Name(ctx, e.By)) }},
			{Head: "KIND", Cell: func(e e) string { return e.Kind }},
			{Head: "FILES", Cell: func(e e) string { return fmt.Sprint(e.Objects) }},
			{Head: "CREATED", Cell: func(e e) string { return display.Time(e.Created.Time) }},
			{Head: "UNDONE BY", Cell: func(e e) string { return e.Undone }},
		}, command.View{JSON: asJSON, None: "The set has no bulk edits."})
	})
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, false, completion.Sets(client.Active))
}

func metadataUndoCommand(p command.Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "undo EDIT",
		Short: "Undo a bulk edit",
		Long: `undo restores the metadata that the files had before a bulk edit, which
"labshelf metadata edits" lists. It does not change files that were edited after
the bulk edit, and lists them. An undo can itself be undone.`,
		Args: command.Exactly(1, `one id of an edit, as "labshelf metadata edits" lists it`),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		outcome, err := c.Edits.Undo(ctx, args[0])
		if err != nil {
			return err
		}
		return showOutcome(p, outcome, false, asJSON)
	})
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, false)
}
