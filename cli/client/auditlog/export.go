package auditlog

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
	"labshelf/formats/audit"
)

func exportCommand(p command.Process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export FILE",
		Short: "Export the whole audit log to a file that can be verified",
		Long: `export writes all entries of the audit log to FILE, with the signed head of the
log, as one JSON object a line. Only sysadmins can export. FILE is replaced only
when the export is complete; - is standard output.

The export contains names, descriptions and addresses, unless they were erased.
"labshelf audit verify" verifies the export. Other programs can, too: "labshelf
help audit-log" describes the format.`,
		Example: `  labshelf audit export audit.jsonl
  labshelf audit export - | gzip > audit.jsonl.gz`,
		Args: command.Exactly(1, "one file to write, or - for standard output"),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		if args[0] == "-" {
			return exportTo(ctx, c, p.Out)
		}
		return command.ReplaceFile(args[0], func(w io.Writer) error { return exportTo(ctx, c, w) })
	})
	return cmd
}

func exportTo(ctx context.Context, c *client.Client, w io.Writer) error {
	export, err := c.Audit.Export(ctx)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, export)
	return errors.Join(err, export.Close())
}

func verifyCommand(p command.Process) *cobra.Command {
	var heads []string
	var key string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Verify an export of the audit log against earlier heads",
		Long: `verify computes the Merkle tree of an export, and compares it with the head in
the export and with older heads. A file with heads contains one or more heads,
as written by "labshelf audit head >> FILE". It needs no service and no user's
key. FILE is the export; - is standard input.

Without an older head, verify only checks that the export is consistent, because
anybody with the data directory can create a new log. With --key and a public
key that you stored earlier, it rejects an export that is signed by another key.

If something was changed, it fails with exit code 1 and lists the entries. If
the service was restored from a backup, some entries were given up, and verify
reports them with exit code 6. A head over these entries proves nothing about
the current ones: make sure that you know of this restoration.`,
		Example: `  labshelf audit verify audit.jsonl --head heads.txt
  labshelf audit export - | labshelf audit verify - --head heads.txt`,
		Args:        command.Exactly(1, "one export, or - for standard input"),
		Annotations: exit.Codes(exit.CodePartly),
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		found, err := verifyExport(p, args[0], heads, key)
		if err != nil {
			return err
		}
		if asJSON {
			err = display.WriteJSON(p.Out, verificationOf(found))
		} else {
			_, err = io.WriteString(p.Out, verificationText(found))
		}
		switch {
		case err != nil:
			return err
		case found.Tampered():
			return errors.New("the export differs from the signed log")
		case !found.Sound():
			return fmt.Errorf("%w: entries were given up by a restoration; their heads prove nothing about the others", exit.ErrPartly)
		}
		return nil
	}
	cmd.Flags().StringArrayVar(&heads, "head", nil, "`FILE` with earlier heads; may be repeated")
	cmd.Flags().StringVar(&key, "key", "", "public `KEY` that must have signed the export (default: the key in the export)")
	command.JSONFlag(cmd, &asJSON)
	return cmd
}

// verifyExport verifies the export in a file against the heads in other files.
func verifyExport(p command.Process, path string, headFiles []string, key string) (found *audit.Verification, err error) {
	o := audit.VerifyOptions{Key: key}
	for _, name := range headFiles {
		more, err := readHeads(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		o.Heads = append(o.Heads, more...)
	}
	if path == "-" {
		return audit.Verify(p.In, o)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	found, err = audit.Verify(file, o)
	return found, errors.Join(err, file.Close())
}

func readHeads(path string) (heads []string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	heads, err = audit.ReadHeads(file)
	return heads, errors.Join(err, file.Close())
}

// verificationText describes the result for display.
func verificationText(v *audit.Verification) string {
	var text strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	say("log      %s", v.Head.Origin)
	say("entries  %d", v.Entries)
	say("root     %s", base64.StdEncoding.EncodeToString(v.Root[:]))
	if v.Erased > 0 {
		say("erased   the texts of %d entries, as recorded by other entries", v.Erased)
	}
	for _, e := range v.Epochs[min(1, len(v.Epochs)):] {
		say("restored at entry %d: epoch %s continues after the entries before it", e.Entry, display.Printable(e.ID))
	}
	for _, h := range v.Older {
		say("%s", headText(h, v.Entries))
	}
	for _, finding := range v.Findings {
		say("TAMPERED: %s", display.Printable(finding))
	}
	if v.More > 0 {
		say("TAMPERED: %d more of these", v.More)
	}
	if len(v.Older) == 0 && len(v.Findings) == 0 {
		say("The export is consistent. Only an earlier head shows whether the log was created again since: --head")
	}
	return text.String()
}

func headText(h audit.HeadCompared, entries uint64) string {
	switch {
	case h.Verdict == audit.Unchanged:
		return fmt.Sprintf("head of %d entries: unchanged", h.Size)
	case h.Verdict == audit.GivenUp:
		return fmt.Sprintf("head of %d entries: entries %d to %d were given up by the restoration at entry %d", h.Size, h.From, h.To-1, h.By)
	case h.Size > entries:
		return fmt.Sprintf("head of %d entries: TAMPERED: entries %d to %d are missing, unless the export is older than the head", h.Size, h.From, h.To-1)
	case h.From == h.To:
		return fmt.Sprintf("head of %d entries: TAMPERED: the log has other entries than the signed ones", h.Size)
	}
	return fmt.Sprintf("head of %d entries: TAMPERED: of entries %d to %d at least one was changed", h.Size, h.From, h.To-1)
}

// VerificationJSON is the output of --json.
type VerificationJSON struct {
	Origin   string     `json:"origin"`
	Key      string     `json:"key"`
	Entries  uint64     `json:"entries"`
	Root     []byte     `json:"root"`
	Sound    bool       `json:"sound"`
	Tampered bool       `json:"tampered"`
	Erased   uint64     `json:"erased"`
	Restored []uint64   `json:"restored"` // numbers of the entries that begin another epoch
	Heads    []headJSON `json:"heads"`
	Findings []string   `json:"findings"`
	More     uint64     `json:"moreFindings"`
}

type headJSON struct {
	Origin  string `json:"origin"`
	Size    uint64 `json:"size"`
	Verdict string `json:"verdict"` // unchanged, given up or tampered
	From    uint64 `json:"from"`    // the entries in question, unless unchanged
	To      uint64 `json:"to"`      // exclusive
}

func verificationOf(v *audit.Verification) VerificationJSON {
	j := VerificationJSON{
		Origin: v.Head.Origin.String(), Key: v.Key, Entries: v.Entries, Root: v.Root[:], Sound: v.Sound(), Tampered: v.Tampered(),
		Erased: v.Erased, Restored: []uint64{}, Heads: []headJSON{}, Findings: append([]string{}, v.Findings...), More: v.More,
	}
	for _, e := range v.Epochs[min(1, len(v.Epochs)):] {
		j.Restored = append(j.Restored, e.Entry)
	}
	for _, h := range v.Older {
		verdict := [...]string{audit.Unchanged: "unchanged", audit.GivenUp: "given up", audit.Changed: "tampered"}[h.Verdict]
		j.Heads = append(j.Heads, headJSON{h.Origin.String(), h.Size, verdict, h.From, h.To})
	}
	return j
}
