//go:build !linux

package cli

// systemExaminations are those that only some systems offer.
func systemExaminations() []examination { return nil }
