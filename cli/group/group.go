// Package group names the groups in which help lists commands.
package group

// The groups, as ids for cobra, in the order of help.
const (
	Run    = "run"
	Use    = "use"
	People = "people"
	Care   = "care"
)
