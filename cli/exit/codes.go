package exit

import (
	"slices"
	"strconv"
	"strings"
)

// The exit codes. Scripts and supervisors rely on them: they never change their meaning.
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
	{CodeOK, "all went well"},
	{CodeFailure, "it failed"},
	{CodeUsage, "wrong usage or configuration"},
	{CodeLocked, "another process has the data directory, or the backup"},
	{CodeInUse, "the address to listen on is in use"},
	{CodeDamaged, "the data are damaged, or of a newer version of labshelf"},
	{CodePartly, "some of it failed, as reported; the rest is done"},
	{CodeHeld, "stopped before it removes much; nothing was removed"},
	{CodeInterrupted, "ended by a signal before it was done"},
}

// codesKey is the annotation of a command that lists its exit codes.
const codesKey = "exits"

// Codes returns the annotations of a command that has these exit codes in addition to
// CodeOK, CodeFailure and CodeUsage.
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
