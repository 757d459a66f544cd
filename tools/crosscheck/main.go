// Command crosscheck checks that a module is valid Go on systems that it is not compiled for: every package of it, tests left out, with all that
// it imports. A file that only such a system compiles is read, resolved and type-checked, which is all of a build but making code. It
// prints what is wrong and exits with 1.
//
//	crosscheck ROOT OS/ARCH…
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: crosscheck ROOT OS/ARCH…")
		os.Exit(2)
	}
	failed := false
	for _, system := range os.Args[2:] {
		fmt.Println(system)
		wrong, err := check(os.Args[1], system)
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

// check returns what is wrong with the module on a system.
func check(root, system string) (wrong []string, err error) {
	goos, goarch, ok := strings.Cut(system, "/")
	if !ok {
		return nil, fmt.Errorf("%q: want OS/ARCH", system)
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax, Dir: root, Env: append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
	}, "./...")
	if err != nil {
		return nil, err
	}
	if len(loaded) == 0 {
		return nil, fmt.Errorf("%s holds no package", root)
	}
	for p := range packages.Postorder(loaded) {
		for _, e := range p.Errors {
			wrong = append(wrong, e.Error())
		}
	}
	return wrong, nil
}
