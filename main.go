// Command labshelf is a research data repository: a service that keeps files in sets and
// dataspaces, with who may read and write them. "labshelf help" shows what it can do.
package main

import (
	"os"

	"labshelf/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}
