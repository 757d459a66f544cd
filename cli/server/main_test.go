package server

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"go.uber.org/goleak"

	"labshelf/cli/exit"
	"labshelf/cli/group"
	"labshelf/cli/process"
	"labshelf/internal/testhome"
)

func TestMain(m *testing.M) {
	// The tests mostly wait, so more of them run in parallel. Flags of the command line override
	// this.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	testscript.Main(leakTested{m}, map[string]func(){
		process.Program: func() { os.Exit(run(os.Args[1:], os.Environ(), os.Stdout, os.Stderr)) },
	})
}

// leakTested reports goroutines that are still running after the tests of this process.
type leakTested struct{ *testing.M }

func (m leakTested) Run() int {
	code := m.M.Run()
	_ = testhome.Remove()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// run runs one of the commands of this package, and returns its exit code as package cli does.
func run(args, environ []string, stdout, stderr io.Writer) int {
	root := &cobra.Command{Use: process.Program, SilenceErrors: true, SilenceUsage: true}
	root.AddGroup(&cobra.Group{ID: group.Run}, &cobra.Group{ID: group.Care})
	root.AddCommand(Commands(process.Process{Environ: environ, Version: process.Version(), Out: stdout, Err: stderr})...)
	root.SetArgs(args)
	err := root.Execute()
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
	}
	switch {
	case err == nil:
		return exit.CodeOK
	case errors.Is(err, ErrDamageFound):
		return exit.CodeDamaged
	}
	return exit.CodeFailure
}
