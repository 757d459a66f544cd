//go:build !linux

package doctor

// systemExaminations are the examinations that only some systems support.
func systemExaminations() []examination { return nil }
