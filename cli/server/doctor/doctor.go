// Package doctor examines the machine and the place of a data directory: whether its file system
// keeps what was synced, who can read it, how much room there is, and what is known to lose data.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"labshelf/cli/datadir"
	"labshelf/cli/exit"
)

// The levels of a finding.
const (
	levelOK      = "ok"
	levelWarning = "warning"
	levelProblem = "problem"
)

// Finding is the result of one examination, or one of its results.
type Finding struct {
	Check string `json:"check"` // what was examined
	Level string `json:"level"`
	Found string `json:"found"`
	Do    string `json:"do,omitempty"` // what to do about it
}

func fine(format string, args ...any) Finding {
	return Finding{Level: levelOK, Found: fmt.Sprintf(format, args...)}
}

func warning(do, format string, args ...any) Finding {
	return Finding{Level: levelWarning, Found: fmt.Sprintf(format, args...), Do: do}
}

func problem(do, format string, args ...any) Finding {
	return Finding{Level: levelProblem, Found: fmt.Sprintf(format, args...), Do: do}
}

// place is the data directory that is examined, or its future place.
type place struct {
	data  string // the data directory, absolute
	base  string // that, or the nearest directory above it that exists
	trial string // a folder in base for trying things
	at    datadir.Stores
}

// examination is one check of a place. It returns nothing where there is nothing to check.
type examination struct {
	name string
	run  func(place) []Finding
}

// Examine runs all examinations of the place of a data directory, which need not exist, and of its
// stores, and reports each finding; an error of report ends it. The examinations do not depend on
// each other. It returns an error if there was a problem, and removes what it made.
func Examine(ctx context.Context, data string, at datadir.Stores, report func(Finding) error) (err error) {
	w, err := locate(data)
	if err != nil {
		return err
	}
	w.at = at
	problems := 0
	reportAll := func(name string, findings ...Finding) (err error) {
		for _, f := range findings {
			if f.Level == levelProblem {
				problems++
			}
			f.Check = name
			err = errors.Join(err, report(f))
		}
		return err
	}
	tried := append(placeExaminations(), storeExaminations(ctx, at)...)
	w.trial, err = os.MkdirTemp(w.base, ".labshelf-doctor-")
	if err == nil {
		defer func() { err = errors.Join(err, os.RemoveAll(w.trial)) }()
		tried = append(tried, trials()...)
	} else if err := reportAll("write", problem("let the user that the service runs as write there, or take another directory with --data",
		"nothing can be written to %s: %v", w.base, err)); err != nil {
		return err
	}
	for _, e := range tried {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := reportAll(e.name, e.run(w)...); err != nil {
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

// locate finds the nearest directory that exists.
func locate(data string) (w place, err error) {
	if w.data, err = filepath.Abs(data); err != nil {
		return w, err
	}
	for w.base = w.data; ; w.base = filepath.Dir(w.base) {
		info, err := os.Stat(w.base)
		switch {
		case err == nil && info.IsDir():
			return w, nil
		case err == nil:
			return w, exit.Usage(fmt.Errorf("%s is a file", w.base))
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) || w.base == filepath.Dir(w.base):
			return w, err
		}
	}
}

// placeExaminations only read; trials write into the trial folder of the place.
func placeExaminations() []examination {
	return append([]examination{
		{"directory", directory}, {"owner", owners}, {"permissions", permissions}, {"devices", devices},
		{"descriptors", openFiles}, {"clock", clock},
	}, systemExaminations()...)
}

// storeExaminations are those of stores that are elsewhere.
func storeExaminations(ctx context.Context, at datadir.Stores) (all []examination) {
	if at.Metadata != "" {
		all = append(all, examination{"database", database(ctx)})
	}
	if at.Blobs != "" {
		all = append(all, examination{"objects", objects(ctx)})
	}
	return all
}

func directory(w place) []Finding {
	switch {
	case w.base != w.data:
		return []Finding{fine("%s does not exist yet; it would be made in %s", w.data, w.base)}
	case exists(filepath.Join(w.data, datadir.MetadataFile)):
		return []Finding{fine("%s contains data", w.data)}
	case w.at.Metadata != "":
		return []Finding{fine("%s is there; the metadata are in a database", w.data)}
	case exists(filepath.Join(w.data, "blobs")):
		return []Finding{problem("restore a backup to another directory with: labshelf backup restore BACKUP --data NEWDIR",
			"%s contains files, but not the %s that says whose they are", w.data, datadir.MetadataFile)}
	}
	return []Finding{fine("%s contains no data yet", w.data)}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
