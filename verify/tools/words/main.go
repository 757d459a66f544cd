// Command words finds banned words: in identifiers, comments, strings and file names of the
// sources, and in the documentation. It prints each of them with a replacement, and exits with 1 if
// it found any.
//
//	words ROOT LIST
//
// A line of LIST that bans words is "forms|replacement". The forms, separated by commas, are whole
// words or phrases, in lower case. A name in camel case is split into its words. The prefix
// "names:" limits the line to declared names and file names, "text:" to comments, strings and
// documentation, and "start:" to the first word of a sentence in them. An exception is a line
// "form|path|reason", where path is a file or a folder, and form is the first form of an earlier
// line. A reason that begins with "at most N:" allows exactly N uses, where N is the current count:
// a lower count is a finding too. So is an exception without effect.
package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: words ROOT LIST")
		os.Exit(2)
	}
	found, err := run(os.DirFS(os.Args[1]), os.Args[2], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(2)
	}
	if found > 0 {
		os.Exit(1)
	}
}

// run searches the tree, writes the findings to out and returns their number.
func run(root fs.FS, list string, out io.Writer) (int, error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return 0, err
	}
	banned, err := parseList(string(text))
	if err != nil {
		return 0, fmt.Errorf("%s:%w", list, err)
	}
	s := search{list: banned}
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != "." && (strings.HasPrefix(entry.Name(), ".") || foreign(name)) {
				return fs.SkipDir
			}
			return nil
		}
		return s.file(root, name)
	})
	if err != nil {
		return 0, err
	}
	for _, e := range banned.exceptions {
		if wrong := e.finding(); wrong != "" {
			s.findings = append(s.findings, wrong)
		}
	}
	_, err = io.WriteString(out, strings.Join(append(s.findings, ""), "\n"))
	return len(s.findings), err
}

// foreign reports whether a folder contains generated files or files of other projects.
func foreign(folder string) bool {
	return folder == "web/vendor" || folder == "web/dist" || slices.Contains([]string{"testdata", "node_modules"}, path.Base(folder))
}
