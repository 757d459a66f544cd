package cli

import (
	"os"
	"slices"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// put FILE TEXT: writes the text to a file that only its owner can read.
func putCommand(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(args[1]), 0o600))
}

// cut FILE BYTES: truncates the file to that length.
func cutCommand(ts *testscript.TestScript, _ bool, args []string) {
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), size))
}

// lists DIR NAME...: expects exactly these entries in the directory.
func listsCommand(ts *testscript.TestScript, _ bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if !slices.Equal(names, args[1:]) {
		ts.Fatalf("%s contains %q, want %q", args[0], names, args[1:])
	}
}
