package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// gate runs a command at the root of the tree to its end and returns what it printed.
func gate(ctx context.Context, environ []string, args ...string) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), environ...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return "", violated(nil, "%s: %w\n%s", strings.Join(args, " "), err, &output)
	}
	return output.String(), nil
}

// fuzz runs each fuzz target for a time, as the stage of the same name does.
func fuzz(ctx context.Context, t *trial) error {
	targets, err := fuzzTargets()
	if err != nil {
		return err
	}
	seconds := 180
	if t.brief {
		seconds = 5
	}
	t.size = len(targets)
	for i := range t.units(ctx, t.size) {
		output, err := gate(ctx, []string{"FUZZ_TARGET=" + targets[i], fmt.Sprint("FUZZ_SECONDS=", seconds)}, ".ci/run", "fuzz")
		if err != nil {
			return err
		}
		runs := regexp.MustCompile(`execs: (\d+)`).FindStringSubmatch(output)
		if runs == nil {
			return fmt.Errorf("%s did not run:\n%s", targets[i], output)
		}
		n, err := strconv.ParseInt(runs[1], 10, 64)
		if err != nil {
			return err
		}
		t.add("seconds", int64(seconds))
		t.add("inputs", n)
		t.say("fuzz: %s, %s inputs", targets[i], grouped(n))
	}
	t.add("findings", 0)
	return nil
}

// fuzzTargets lists the fuzz targets of the tree.
func fuzzTargets() (names []string, err error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "*_test.go"))
	if err != nil {
		return nil, err
	}
	target := regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, found := range target.FindAllSubmatch(text, -1) {
			names = append(names, string(found[1]))
		}
	}
	slices.Sort(names)
	return names, nil
}

// mutants runs the stage of .ci/run that has each fault made on purpose found by a test.
func mutants(ctx context.Context, t *trial) error {
	var environ []string
	if !t.brief {
		environ = append(environ, "LONG=1")
	}
	for range t.units(ctx, 1) {
		output, err := gate(ctx, environ, ".ci/run", "mutants")
		if err != nil {
			return err
		}
		t.say("%s", strings.TrimSpace(output))
		t.add("found by a test", int64(strings.Count(output, "found by")))
	}
	return nil
}

// purgeTurn is how many seconds a purge races uploads in one repository.
const purgeTurn = 60

// purge lets uploads and purges of the same files meet: at each pair of steps, then at random, under the race detector.
func purge(ctx context.Context, t *trial) error {
	for t.more(ctx, t.size) {
		seconds := min(purgeTurn, t.size-t.Done)
		output, err := gate(ctx, []string{"CGO_ENABLED=1", fmt.Sprint("PURGE_RACE_SECONDS=", seconds)},
			"go", "test", "-race", "-vet=off", "-count=1", "-v", "-timeout=5m", "-run=^(TestUploadAgainstPurge|TestUploadsAgainstPurges)$", "./repository")
		if err != nil {
			return err
		}
		counts := regexp.MustCompile(`(\d+) uploads, each read back, beside (\d+) removals`).FindStringSubmatch(output)
		if counts == nil {
			return fmt.Errorf("nobody says what was tried:\n%s", output)
		}
		for i, name := range []string{"uploads", "removals"} {
			n, err := strconv.ParseInt(counts[i+1], 10, 64)
			if err != nil {
				return err
			}
			t.add(name, n)
		}
		t.advance(seconds)
	}
	t.add("dangling", 0)
	return nil
}
