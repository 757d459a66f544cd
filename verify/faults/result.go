package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"labshelf/verify/e2e"
)

// document contains the results as lines of a table between two marks.
const (
	document  = "docs/reference/fault-tests.md"
	beginMark = "<!-- faults: one row each, written by go -C verify test ./faults -size=long -write -->"
	endMark   = "<!-- /faults -->"
)

// errDirty is returned for uncommitted code: results name a commit.
var errDirty = errors.New("the tree has uncommitted changes")

func git(args ...string) (string, error) {
	root, err := e2e.Source(context.Background())
	if err != nil {
		return "", err
	}
	cmd := exec.Command("git", args...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = root, &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// codeID returns the last commit that changed files other than documents. If clean is set,
// uncommitted changes are an errDirty.
func codeID(clean bool) (string, error) {
	const documents = ":(exclude)*.md"
	id, err := git("log", "-1", "--abbrev=12", "--format=%h", "--", ".", documents)
	if err != nil {
		return "", err
	}
	changes, err := git("status", "--porcelain", "--", ".", documents)
	if err == nil && changes != "" && clean {
		err = fmt.Errorf("%w:\n%s", errDirty, changes)
	}
	return id, err
}

// writing is locked during changes of the document, because rows run in parallel.
var writing sync.Mutex

// write replaces the row's line in the document. code is the codeID at the start of the row.
func (t *trial) write(code string, took time.Duration) error {
	writing.Lock()
	defer writing.Unlock()
	now, err := codeID(true)
	if err != nil {
		return err
	}
	if now != code {
		return fmt.Errorf("the code has changed during the run, from %s to %s: the result belongs to neither", code, now)
	}
	root, err := e2e.Source(context.Background())
	if err != nil {
		return err
	}
	path := filepath.Join(root, filepath.FromSlash(document))
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	line := fmt.Sprintf("| %s | %s | %s | %d | %s | %s |",
		t.name, t.line(), took, t.seed, time.Now().UTC().Format(time.DateOnly), code)
	changed, err := withLine(string(text), t.name, line)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(changed), 0o644)
}

// results splits the document into the part before the table's lines, the lines, and the rest.
func results(text string) (before string, lines []string, after string, err error) {
	before, rest, ok := strings.Cut(text, beginMark+"\n")
	table, after, closed := strings.Cut(rest, endMark)
	lines = strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	if !ok || !closed || len(lines) < 2 {
		return "", nil, "", fmt.Errorf("%s has no marks for results: %s", document, beginMark)
	}
	head := strings.Join(lines[:2], "\n") + "\n"
	return before + beginMark + "\n" + head, lines[2:], endMark + after, nil
}

// withLine returns the document with the line of a row replaced, or added at the end.
func withLine(text, name, line string) (string, error) {
	before, lines, after, err := results(text)
	if err != nil {
		return "", err
	}
	if i := slices.IndexFunc(lines, func(other string) bool { return cell(other, 1) == name }); i >= 0 {
		lines[i] = line
	} else {
		lines = append(lines, line)
	}
	return before + strings.Join(lines, "\n") + "\n" + after, nil
}

// cell returns a column of a line of the table, from 1. Column 1 is the name of the row, column 6
// its commit.
func cell(line string, n int) string {
	if cells := strings.Split(line, "|"); n < len(cells) {
		return strings.TrimSpace(cells[n])
	}
	return ""
}
