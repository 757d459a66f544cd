// Package group names the groups of commands in the help.
package group

// The groups, as ids for cobra, in the order of the help.
const (
	Run    = "run"
	Use    = "use"
	People = "people"
	Care   = "care"
)
