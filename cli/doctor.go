package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
)

func doctorCommand(p process) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "doctor [--data DIR]",
		Short: "Examine the machine and the place where the data are or are to be",
		Long: `doctor finds out whether data can be kept safely in the data directory: whether
its file system keeps what it is told to keep, who can read and write it, how
much room there is, and what is known to lose data. Each thing that it looks at
is ok, a warning, or a problem, with what to do about it.

The directory need not exist yet: then the place where it would be is examined.
The service may be running. For a while there is a folder .labshelf-doctor-*,
which is taken away again. What is in the files is for "labshelf check".`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := load(cmd.Flags(), p.environ)
			if err != nil {
				return err
			}
			write := writeFinding
			if asJSON {
				write = writeJSON[finding]
			}
			return untilSignal(func(ctx context.Context) error {
				return examine(ctx, c.data, func(f finding) error { return write(p.stdout, f) })
			})
		},
	}
	addFlags(cmd.Flags(), "data")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each finding as a JSON object on a line of its own")
	return cmd
}

// How a finding can be meant.
const (
	levelOK      = "ok"
	levelWarning = "warning"
	levelProblem = "problem"
)

// finding is what doctor says about one thing.
type finding struct {
	Check string `json:"check"` // what was examined
	Level string `json:"level"`
	Found string `json:"found"`
	Do    string `json:"do,omitempty"` // what to do about it
}

func fine(format string, args ...any) finding {
	return finding{Level: levelOK, Found: fmt.Sprintf(format, args...)}
}

func warning(do, format string, args ...any) finding {
	return finding{Level: levelWarning, Found: fmt.Sprintf(format, args...), Do: do}
}

func problem(do, format string, args ...any) finding {
	return finding{Level: levelProblem, Found: fmt.Sprintf(format, args...), Do: do}
}

// writeFinding is for people.
func writeFinding(out io.Writer, f finding) error {
	text := fmt.Sprintf("%-8s %-12s %s\n", f.Level, f.Check, f.Found)
	if f.Do != "" {
		text += fmt.Sprintf("%-21s → %s\n", "", f.Do)
	}
	_, err := io.WriteString(out, text)
	return err
}

// writeJSON is for programs: one line.
func writeJSON[T any](out io.Writer, v T) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// patient is what is examined.
type patient struct {
	data  string // the data directory, absolute
	base  string // that, or the nearest directory above it that exists
	trial string // a folder in base for trying things
}

// examination looks at one thing. It returns nothing where there is nothing to look at.
type examination struct {
	name string
	run  func(patient) []finding
}

// examine runs all examinations, each of which works without the others, and returns an error if there was a problem.
func examine(ctx context.Context, data string, tell func(finding) error) (err error) {
	w, err := admit(data)
	if err != nil {
		return err
	}
	problems := 0
	report := func(name string, findings ...finding) (err error) {
		for _, f := range findings {
			if f.Level == levelProblem {
				problems++
			}
			f.Check = name
			err = errors.Join(err, tell(f))
		}
		return err
	}
	tried := placeExaminations()
	w.trial, err = os.MkdirTemp(w.base, ".labshelf-doctor-")
	if err == nil {
		defer func() { err = errors.Join(err, os.RemoveAll(w.trial)) }()
		tried = append(tried, trials()...)
	} else if err := report("write", problem("let the user that the service runs as write there, or take another directory with --data",
		"nothing can be written to %s: %v", w.base, err)); err != nil {
		return err
	}
	for _, e := range tried {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := report(e.name, e.run(w)...); err != nil {
			return err
		}
	}
	switch problems {
	case 0:
		return nil
	case 1:
		return errors.New("there is a problem")
	}
	return fmt.Errorf("there are %d problems", problems)
}

// admit finds the nearest directory that exists.
func admit(data string) (w patient, err error) {
	if w.data, err = filepath.Abs(data); err != nil {
		return w, err
	}
	for w.base = w.data; ; w.base = filepath.Dir(w.base) {
		info, err := os.Stat(w.base)
		switch {
		case err == nil && info.IsDir():
			return w, nil
		case err == nil:
			return w, usageError{fmt.Errorf("%s is a file", w.base)}
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) || w.base == filepath.Dir(w.base):
			return w, err
		}
	}
}

// placeExaminations only look, and trials write into the folder of the patient.
func placeExaminations() []examination {
	return append([]examination{
		{"directory", directory}, {"owner", owners}, {"permissions", permissions}, {"devices", devices},
		{"descriptors", openFiles}, {"clock", clock},
	}, systemExaminations()...)
}

func directory(w patient) []finding {
	switch {
	case w.base != w.data:
		return []finding{fine("%s does not exist yet; it would be made in %s", w.data, w.base)}
	case exists(filepath.Join(w.data, metadataFile)):
		return []finding{fine("%s holds data", w.data)}
	case exists(filepath.Join(w.data, "blobs")):
		return []finding{problem(fmt.Sprintf("restore a backup to another directory with: %s backup restore BACKUP --data NEWDIR", program),
			"%s holds files, but not the %s that says whose they are", w.data, metadataFile)}
	}
	return []finding{fine("%s holds no data yet", w.data)}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
