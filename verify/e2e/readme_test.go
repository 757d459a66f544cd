package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// step is one command of a session, with its documented output.
type step struct {
	file          string
	line          int
	command, want string
}

// session returns the commands in the console blocks of a Markdown file. A line that begins with "$
// " is a command.
func session(file, markdown string) (steps []step) {
	within := false
	for i, line := range strings.Split(markdown, "\n") {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			within = line == "```console"
		case !within:
		case isCommand:
			steps = append(steps, step{file: file, line: i + 1, command: command})
		default:
			steps[len(steps)-1].want += line + "\n"
		}
	}
	return steps
}

// TestReadmeSession runs the sessions of the tutorials that the README links to, in one shell. It
// compares the output of each command with the tutorial, where … stands for any text within a line.
func TestReadmeSession(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl", "sed", "grep", "find", "xargs"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("the tutorials need %s", tool)
			}
			t.Skipf("no %s here to run the tutorials with", tool)
		}
	}
	const said = "127.0.0.1:8080"
	dir := t.TempDir()
	_, address, _ := strings.Cut(serve(t, filepath.Join(dir, "data")).Base(), "://")
	address = strings.TrimSuffix(address, "/v1")
	var steps []step
	for _, file := range []string{"docs/tutorial/terminal.md", "docs/tutorial/curl.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		found := session(file, strings.ReplaceAll(string(text), said, address))
		if len(found) < 15 {
			t.Fatalf("found only %d commands in %s", len(found), file)
		}
		steps = append(steps, found...)
	}

	// One shell runs all commands. A mark after each command separates its output from the next.
	const mark = "---- end of step"
	var script bytes.Buffer
	for i, s := range steps {
		fmt.Fprintf(&script, "%s\necho '%s %d'\n", s.command, mark, i)
	}
	path, err := program()
	check(t, err)
	shell := exec.Command("bash")
	shell.Dir, shell.Stdin = dir, &script
	shell.Env = append(os.Environ(), "PATH="+filepath.Dir(path)+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+dir, "XDG_CONFIG_HOME=")
	output, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	rest := string(output)
	for i, s := range steps {
		got, after, ok := strings.Cut(rest, fmt.Sprintf("%s %d\n", mark, i))
		if !ok {
			t.Fatalf("%s:%d: %s: did not finish; the shell printed\n%s", s.file, s.line, s.command, rest)
		}
		rest = after
		if !like(got, s.want) {
			t.Errorf("%s:%d: $ %s\nprinted:\n%s\nwant:\n%s", s.file, s.line, s.command, got, s.want)
		}
	}
}

// like reports whether got matches a pattern, where … stands for any text within a line. It ignores
// spaces before numbers, which wc prints on some systems.
func like(got, pattern string) bool {
	pattern = strings.ReplaceAll(regexp.QuoteMeta(pattern), "…", ".*")
	return regexp.MustCompile(`^` + pattern + `$`).MatchString(regexp.MustCompile(`(?m)^ +(\d+)$`).ReplaceAllString(got, "$1"))
}
