//go:build race

package e2e

// buildFlags makes the program report races. Then its exit code is not 0.
func buildFlags() []string { return []string{"-race"} }
