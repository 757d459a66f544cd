// Command names prints each symbol with each of its prefixes, one a line.
package main

import (
	"fmt"

	"labshelf/formats/descriptive/units"
)

func main() {
	for _, symbol := range units.Symbols() {
		fmt.Println(symbol)
	}
}
