package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// The random test of the metadata store against a model of it, and what it prints.
const (
	modelTest  = "TestContractAgainstModel"
	modelBatch = 100 // histories that are tried with one seed
)

// model does random things to the metadata store and to a simple one in memory, which must agree: writes, reads, crashes,
// reopenings, purges, backups and restorations. It runs the store's own test, with other seeds and for longer.
func model(ctx context.Context, t *trial) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	program := filepath.Join(t.dir, "bolt.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-tags="+tags(), "-o", program, "./bolt")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the tests of bolt: %w\n%s", err, out)
	}
	t.add("differences", 0)
	printed := regexp.MustCompile(`(?m): (\d+) operations$`)
	for t.more(ctx, t.size) {
		test := exec.CommandContext(ctx, program, "-test.run", "^"+modelTest+"$", "-test.v",
			"-rapid.checks", strconv.Itoa(modelBatch), "-rapid.seed", strconv.FormatUint(t.Seed+uint64(t.Done), 10))
		test.Dir, test.Env = t.dir, append(os.Environ(), "TMPDIR="+t.dir)
		out, err := test.CombinedOutput()
		if err != nil {
			return violated(nil, "%w\n%s", err, out)
		}
		found := printed.FindSubmatch(out)
		if found == nil {
			return fmt.Errorf("%s does not say how much it did:\n%s", modelTest, out)
		}
		done, err := strconv.Atoi(string(found[1]))
		if err != nil {
			return err
		}
		t.add("histories", modelBatch)
		t.advance(done)
	}
	return nil
}
