package handlers_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"labshelf/blobs/directory"
	"labshelf/handlers"
	"labshelf/internal/testhome"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/maintenance"
)

// suite is the state that all tests of the package share. Tests that use it create their own
// dataspaces and users. Tests of the whole store open a separate one.
var suite struct {
	*contract
	gateway *gateway
}

func TestMain(m *testing.M) {
	// The tests mostly wait for the disk. A flag on the command line overrides this value.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	_ = testhome.Remove()
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if suite.contract, err = loadContract(); err != nil {
		return 1, err
	}
	dir, err := os.MkdirTemp("", "handlers")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if suite.gateway, err = openGateway(dir, directory.OS{}, repository.Config{HoldUpTo: 128 << 10}); err != nil {
		return 1, err
	}
	suite.gateway.serve(handlers.Config{})
	code = m.Run()
	files, err := directory.OpenReadOnly(dir)
	if err != nil {
		return 1, err
	}
	_, err = maintenance.NewUpkeep(suite.gateway.meta, files).Check(context.Background(), maintenance.CheckOptions{NoData: true},
		maintenance.CheckEvents{Violation: func(v metadata.Violation) {
			if v.Part != metadata.PartBlobs { // tests damage files on purpose
				fmt.Fprintln(os.Stderr, "a violation remains after the tests:", v)
				code = max(code, 1)
			}
		}})
	if err := errors.Join(err, suite.gateway.close(), closeServer()); err != nil {
		return code, err
	}
	if left, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(left) > 0 {
		return code, fmt.Errorf("%d temporary files remain after the tests (%w)", len(left), err)
	}
	if err := goleak.Find(); err != nil {
		return code, err
	}
	if suite.leaks != nil {
		return 1, fmt.Errorf("a log contains secrets: %w", suite.leaks)
	}
	if gaps := suite.gaps(); code == 0 && whole() && len(gaps) > 0 {
		return 1, fmt.Errorf("the document and the tests do not cover each other:\n%v", errors.Join(asErrors(gaps)...))
	}
	return code, nil
}

func asErrors(texts []string) (errs []error) {
	for _, text := range texts {
		errs = append(errs, errors.New("  "+text))
	}
	return errs
}

// whole reports whether every test of the package ran.
func whole() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return !testing.Short() && cluster() == ""
}
