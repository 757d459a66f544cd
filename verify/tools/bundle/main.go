// Command bundle bundles the sources of the pages for browsers.
//
//	bundle WEB
//
// From WEB/src/app.tsx and WEB/src/app.css it writes WEB/dist: assets whose names contain the hash
// of their content, each with a gzip file, and manifest.json, which lists what the shell links. The
// output is deterministic. It replaces WEB/dist.
//
// It fails if a file of WEB/vendor differs from WEB/vendor/SHA256SUMS, or if files of WEB/src
// import each other in a cycle.
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bundle WEB")
		os.Exit(2)
	}
	web := os.Args[1]
	if err := errors.Join(verifyVendor(web), verifyImports(web), build(web)); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}
