// Command crosscheck checks that a module compiles on other systems. It reads and type-checks every
// package of the module except tests, with all imports, but generates no code. It prints the errors
// and exits with 1. With -vet it also reads the tests, and prints the findings of go vet.
//
//	crosscheck [-vet] ROOT OS/ARCH…
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	suite "golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"
)

func main() {
	vet := flag.Bool("vet", false, "vet the packages and their tests, too")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: crosscheck [-vet] ROOT OS/ARCH…")
		os.Exit(2)
	}
	failed := false
	for _, system := range flag.Args()[1:] {
		fmt.Println(system)
		wrong, err := check(flag.Arg(0), system, *vet)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		for _, line := range wrong {
			fmt.Println(line)
		}
		failed = failed || len(wrong) > 0
	}
	if failed {
		os.Exit(1)
	}
}

// check returns the errors in the module on a system.
func check(root, system string, vet bool) (wrong []string, err error) {
	goos, goarch, ok := strings.Cut(system, "/")
	if !ok {
		return nil, fmt.Errorf("%q: want OS/ARCH", system)
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax | packages.NeedModule, Tests: vet, Dir: root, Env: append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
	}, "./...")
	if err != nil {
		return nil, err
	}
	if len(loaded) == 0 {
		return nil, fmt.Errorf("%s contains no package", root)
	}
	for p := range packages.Postorder(loaded) {
		for _, e := range p.Errors {
			wrong = append(wrong, e.Error())
		}
	}
	if !vet || len(wrong) > 0 {
		return wrong, nil
	}
	return vetted(loaded)
}

// vetted returns the findings of go vet in packages without errors.
func vetted(loaded []*packages.Package) (wrong []string, err error) {
	known := slices.DeleteFunc(slices.Clone(suite.Suite), func(a *analysis.Analyzer) bool { return a.Name == "scannererr" }) // go vet does not contain it
	graph, err := checker.Analyze(known, loaded, nil)
	if err != nil {
		return nil, err
	}
	for _, action := range graph.Roots {
		if action.Err != nil {
			return nil, action.Err
		}
		for _, d := range action.Diagnostics {
			wrong = append(wrong, fmt.Sprintf("%s: %s", action.Package.Fset.Position(d.Pos), d.Message))
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong), nil // a package is vetted again together with its tests
}
