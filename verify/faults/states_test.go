package main

import (
	"context"
	"os"
	"testing"
)

// TestMain lets this program also be the children that rows start.
func TestMain(m *testing.M) {
	if _, ok := children()[firstOf(os.Args[1:])]; ok {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// TestCrashStates is also what finds the mutants that sync too little or too late: see .ci/mutants.
func TestCrashStates(t *testing.T) {
	t.Parallel()
	tiny(t, "states", 60)
}

func TestSyscalls(t *testing.T) {
	t.Parallel()
	tiny(t, "syscalls", 20)
}

func TestErrors(t *testing.T) {
	t.Parallel()
	tiny(t, "errors", 20)
}

func TestFull(t *testing.T) {
	t.Parallel()
	tiny(t, "full", 2)
}

func TestModel(t *testing.T) {
	t.Parallel()
	tiny(t, "model", 500)
}
