//go:build !race

package e2e

func buildFlags() []string { return nil }
