package command

import (
	"github.com/spf13/pflag"

	"labshelf/cli/display"
)

// QuotaFlag defines --quota, and returns a function that returns its value, or nil if it is not
// set.
func QuotaFlag(flags *pflag.FlagSet) func() *int64 {
	var size QuotaValue
	flags.Var(&size, "quota", "maximum `SIZE` of all versions, such as 500GiB; none: no limit (for sysadmins)")
	return func() *int64 { return Given(flags, "quota", (*int64)(&size)) }
}

// QuotaValue is the value of --quota in bytes.
type QuotaValue int64

// Type is the name of the value in the help.
func (q *QuotaValue) Type() string { return "SIZE" }

// String returns "": the help shows no default.
func (q *QuotaValue) String() string { return "" }

// Set parses a size, or the word none.
func (q *QuotaValue) Set(text string) error {
	if text == "none" {
		*q = 0
		return nil
	}
	bytes, err := display.ParseBytes(text)
	*q = QuotaValue(bytes)
	return err
}
