package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// exitDamaged is the exit code of labshelf for damage.
const exitDamaged = 5

// outcome is how a command of labshelf ended.
type outcome struct {
	code           int
	stdout, stderr string
}

// labshelf runs a command of the program to its end.
func labshelf(ctx context.Context, program string, args ...string) (o outcome, err error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "LABSHELF_") })
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); ended && ctx.Err() == nil {
		err = nil
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}, err
}

func (o outcome) String() string {
	return fmt.Sprintf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
}

// found is one line of labshelf check --json.
type found struct {
	Violation *struct{ Part, Kind, ID, Name, Wrong string }
	End       *struct{ Violations int }
}

// check runs labshelf check over the data directory of a stopped service. It returns what that found, and how it ended.
func check(ctx context.Context, program, data string) (all []found, o outcome, err error) {
	o, err = labshelf(ctx, program, "check", "--data", data, "--json")
	if err != nil {
		return nil, o, err
	}
	for line := range strings.Lines(o.stdout) {
		var f found
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			return nil, o, violated(nil, "check printed %q: %w", line, err)
		}
		if f.Violation != nil {
			all = append(all, f)
		}
	}
	return all, o, nil
}

// clean returns what is wrong with the data directory of a stopped service, as labshelf check sees it.
func clean(ctx context.Context, program, data string) error {
	_, o, err := check(ctx, program, data)
	if err == nil && o.code != 0 {
		err = violated(nil, "labshelf check: %s", o)
	}
	return err
}
