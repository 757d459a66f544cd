package exit

import (
	"slices"
	"strconv"
	"strings"
)

// The exit codes. Their meaning never changes: scripts and supervisors rely on them.
const (
	CodeOK          = 0
	CodeFailure     = 1
	CodeUsage       = 2
	CodeLocked      = 3
	CodeInUse       = 4
	CodeDamaged     = 5
	CodePartly      = 6
	CodeHeld        = 7
	CodeInterrupted = 130
)

// Code is an exit code with its meaning, as help shows it.
type Code struct {
	Number  int
	Meaning string
}

// codes are all exit codes, in ascending order.
var codes = []Code{
	{CodeOK, "success"},
	{CodeFailure, "it failed"},
	{CodeUsage, "wrong usage or configuration"},
	{CodeLocked, "another process uses the data directory, or the backup"},
	{CodeInUse, "the address to listen on is in use"},
	{CodeDamaged, "the data are damaged, or were written by a newer version of labshelf"},
	{CodePartly, "some items failed, as reported; the rest is done"},
	{CodeHeld, "stopped before a large removal; nothing was removed"},
	{CodeInterrupted, "interrupted by a signal"},
}

// codesKey is the annotation of a command that lists its exit codes.
const codesKey = "exits"

// Codes returns the annotations of a command with these exit codes in addition to CodeOK,
// CodeFailure and CodeUsage.
func Codes(numbers ...int) map[string]string {
	var list []string
	for _, number := range numbers {
		list = append(list, strconv.Itoa(number))
	}
	return map[string]string{codesKey: strings.Join(list, " ")}
}

// CodesOf returns the exit codes of a command with these annotations, in ascending order.
func CodesOf(annotations map[string]string) (list []Code) {
	special := strings.Fields(annotations[codesKey])
	for _, c := range codes {
		if c.Number <= CodeUsage || slices.Contains(special, strconv.Itoa(c.Number)) {
			list = append(list, c)
		}
	}
	return list
}
