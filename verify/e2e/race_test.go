//go:build race

package e2e

// buildFlags make the program report races too: it then ends with another exit code than 0.
func buildFlags() []string { return []string{"-race"} }
