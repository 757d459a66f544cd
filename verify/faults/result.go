package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// document holds the results, one line of a table each, between marks.
const (
	document  = "docs/reliability.md"
	beginMark = "<!-- faults: one row each, written by go run ./verify/faults -write -->"
	endMark   = "<!-- /faults -->"
)

// errDirty: what is not committed has no id that a result could name.
var errDirty = errors.New("the tree has changes that are not committed")

// moduleRoot returns the folder of go.mod.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	path := strings.TrimSpace(string(out))
	if err != nil || filepath.Base(path) != "go.mod" {
		return "", fmt.Errorf("faults runs within the source tree: %q, %w", path, err)
	}
	return filepath.Dir(path), nil
}

func git(root string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = root, &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// codeID names the code: the last commit that changed more than documents, with a plus if there are changes that are not
// committed. Where that matters, they are an errDirty; else a tree without history is "unknown".
func codeID(root string, clean bool) (string, error) {
	const documents = ":(exclude)*.md"
	id, err := git(root, "log", "-1", "--abbrev=12", "--format=%h", "--", ".", documents)
	switch {
	case err != nil && clean:
		return "", err
	case err != nil:
		return "unknown", nil
	}
	changes, err := git(root, "status", "--porcelain", "--", ".", documents)
	switch {
	case err != nil:
		return "", err
	case changes != "" && clean:
		return "", fmt.Errorf("%w:\n%s", errDirty, changes)
	case changes != "":
		id += "+"
	}
	return id, nil
}

// writeResult puts the row's line into the document, in the place of the one that was there.
func (t *trial) writeResult() error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	code, err := codeID(root, true)
	if err != nil {
		return err
	}
	if code != t.Code {
		return fmt.Errorf("the code has changed meanwhile, from %s to %s: the result belongs to neither", t.Code, code)
	}
	path := filepath.Join(root, filepath.FromSlash(document))
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	line := fmt.Sprintf("| %s | %s | %s | %d | %s | %s |", t.name, t.line(),
		time.Duration(t.Seconds*float64(time.Second)).Round(time.Second), t.Seed, time.Now().UTC().Format(time.DateOnly), code)
	changed, err := withLine(string(text), t.name, line)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(changed), 0o644)
}

// withLine returns the document with the line of a row replaced, or added in the order of the table.
func withLine(text, name, line string) (string, error) {
	before, rest, ok := strings.Cut(text, beginMark+"\n")
	table, after, closed := strings.Cut(rest, endMark)
	if !ok || !closed {
		return "", fmt.Errorf("%s has no place for results: %s", document, beginMark)
	}
	order := map[string]int{}
	for i, r := range rows() {
		order[r.name] = i
	}
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	head, results := lines[:min(2, len(lines))], lines[min(2, len(lines)):]
	results = slices.DeleteFunc(results, func(other string) bool { return nameIn(other) == name })
	results = append(results, line)
	slices.SortStableFunc(results, func(a, b string) int { return order[nameIn(a)] - order[nameIn(b)] })
	return before + beginMark + "\n" + strings.Join(append(slices.Clone(head), results...), "\n") + "\n" + endMark + after, nil
}

// nameIn returns the row that a line of the table is about.
func nameIn(line string) string {
	cells := strings.Split(line, "|")
	return strings.TrimSpace(cells[min(1, len(cells)-1)])
}

// standing says which result of a row is written down, and whether it still counts.
func standing(r row) string {
	root, err := moduleRoot()
	if err != nil {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(document)))
	if err != nil {
		return "none"
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 8 || nameIn(line) != r.name {
			continue
		}
		commit := strings.TrimSpace(cells[6])
		changed, err := git(root, append([]string{"diff", "--name-only", commit, "--", ":(exclude)*_test.go", ":(exclude,glob)**/testdata/**"}, r.code...)...)
		switch {
		case err != nil:
			return "of " + commit + ", which is not here"
		case changed != "":
			return "of " + commit + ": its code has changed since, to be repeated"
		}
		return "of " + commit
	}
	return "none"
}
