// Command bundle makes what browsers load out of the sources of the pages.
//
//	bundle WEB
//
// From WEB/src/app.tsx and WEB/src/app.css it writes WEB/dist: assets whose names hold the hash of their content, each beside
// its gzip, and manifest.json, which says what the shell links. The same sources give the same bytes. What is in WEB/dist already goes.
//
// It also sees that what others wrote (WEB/vendor) is as it was taken: WEB/vendor/SHA256SUMS.
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
	if err := errors.Join(verifyVendor(web), build(web)); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}
