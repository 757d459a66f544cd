// Package doctor examines the machine and the place of a data directory: whether its file system
// keeps synced data, who can read it, how much free space it has, and known causes of data loss.
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

// Finding is one result of an examination.
type Finding struct {
	Check string `json:"check"` // the examined part
	Level string `json:"level"`
	Found string `json:"found"`
	Do    string `json:"do,omitempty"` // advice
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

// place is the data directory under examination, or the place where it will be.
type place struct {
	data  string // the data directory, absolute
	base  string // the data directory, or its nearest existing parent
	trial string // a folder in base for trials
	at    datadir.Stores
}

// examination is one check of a place. It returns no findings if it does not apply.
type examination struct {
	name string
	run  func(place) []Finding
}

// Examine runs all examinations of the place of a data directory, which need not exist, and of its
// stores. It calls report for each finding; an error of report ends the examination. The
// examinations are independent. It returns an error if it found a problem, and removes its files.
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
	} else if err := reportAll("write", problem("let the user that runs the service write there, or use another directory with --data",
		"%s is not writable: %v", w.base, err)); err != nil {
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
		return errors.New("1 problem was found")
	}
	return fmt.Errorf("%d problems were found", problems)
}

// locate finds the nearest existing directory.
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

// placeExaminations only read; trials write to the trial folder of the place.
func placeExaminations() []examination {
	return append([]examination{
		{"directory", dataDirectory}, {"owner", owners}, {"permissions", permissions}, {"devices", devices},
		{"descriptors", openFiles}, {"clock", clock},
	}, systemExaminations()...)
}

// storeExaminations are the examinations of stores outside of the data directory.
func storeExaminations(ctx context.Context, at datadir.Stores) (all []examination) {
	if at.Metadata != "" {
		all = append(all, examination{"database", database(ctx)})
	}
	if at.Blobs != "" {
		all = append(all, examination{"objects", objects(ctx)})
	}
	return all
}

func dataDirectory(w place) []Finding {
	switch {
	case w.base != w.data:
		return []Finding{fine("%s does not exist yet; it would be created in %s", w.data, w.base)}
	case exists(filepath.Join(w.data, datadir.MetadataFile)):
		return []Finding{fine("%s contains data", w.data)}
	case w.at.Metadata != "":
		return []Finding{fine("%s exists; the metadata are in a database", w.data)}
	case exists(filepath.Join(w.data, "blobs")):
		return []Finding{problem("restore a backup to another directory with: labshelf backup restore BACKUP --data NEWDIR",
			"%s contains files, but no %s with their records", w.data, datadir.MetadataFile)}
	}
	return []Finding{fine("%s contains no data yet", w.data)}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
