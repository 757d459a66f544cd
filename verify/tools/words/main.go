// Command words finds words that are not to come back: in identifiers, comments, strings and file
// names of the sources, and in the documentation. It prints each with what to write instead, and
// exits with 1 when it found one.
//
//	words ROOT LIST
//
// A line of LIST that bans words is "forms|what to write instead". The forms, separated by commas,
// are whole words or phrases, in lower case; a word in camel case counts as its parts. "names:"
// before them limits the line to declared names and file names, "text:" to comments, strings and
// documentation, "start:" to the first word of a sentence in them. A line that makes an exception
// is "form|path|reason", where path is a file or a folder and form the first of a line before it. A
// reason that begins with "at most N:" excuses N times and no more, and shrinks: N is the count of
// today. An exception that excuses nothing any more is a finding too.
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

// run looks at the tree, writes the findings to out and returns how many there are.
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

// foreign reports whether a folder holds what others wrote, or what is made from other files.
func foreign(folder string) bool {
	return folder == "web/vendor" || folder == "web/dist" || slices.Contains([]string{"testdata", "node_modules"}, path.Base(folder))
}
