//go:build !linux

package doctor

// systemExaminations are those that only some systems offer.
func systemExaminations() []examination { return nil }
