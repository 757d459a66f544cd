package suggest

import (
	"slices"
	"strings"
)

// habits maps commands of other programs to the commands that do the same here. The first word of a
// candidate is a command at the level where the word was typed.
var habits = map[string][]string{
	"add": {"new", "put"}, "create": {"new", "dataspace new"}, "make": {"new"}, "mkdir": {"folder new"},
	"upload": {"put"}, "send": {"put"}, "push": {"put"}, "store": {"put"}, "import": {"put"},
	"download": {"get"}, "fetch": {"get"}, "pull": {"get"}, "export": {"get"}, "scp": {"put"},
	"list": {"ls"}, "dir": {"ls"}, "ll": {"ls --long"}, "stat": {"ls --long"}, "info": {"status"}, "show": {"ls", "cat"},
	"view": {"cat"}, "print": {"cat"}, "head": {"cat"}, "open": {"cat"},
	"delete": {"rm", "revoke"}, "del": {"rm", "revoke"}, "remove": {"rm", "revoke"}, "rmdir": {"folder rm"}, "undelete": {"restore"},
	"move": {"mv"}, "rename": {"mv", "edit"}, "copy": {"cp"}, "change": {"edit"}, "update": {"edit", "put"}, "modify": {"edit"},
	"sync": {"harvest", "put"}, "mirror": {"harvest"}, "clone": {"harvest"}, "rsync": {"harvest"},
	"search": {"find"}, "grep": {"find"}, "query": {"find"}, "locate": {"find"},
	"share": {"link share"}, "publish": {"dataspace edit --visibility"}, "links": {"link ls"}, "invite": {"link invite"},
	"request": {"link request"}, "whoami": {"status"}, "id": {"status"}, "me": {"status"}, "signin": {"login"}, "auth": {"login"},
	"signout": {"logout"}, "permissions": {"grant"}, "chmod": {"grant"}, "role": {"grant"}, "users": {"user ls"}, "keys": {"key ls"},
	"token": {"key new"}, "password": {"key new"}, "passwd": {"key new"}, "sets": {"set ls"}, "dataspaces": {"dataspace ls"},
	"schemas": {"schema ls"}, "folders": {"ls"}, "history": {"audit ls"}, "log": {"audit ls"}, "diff": {"versions"}, "rollback": {"restore"},
	"trash": {"ls --deleted"}, "du": {"usage"}, "df": {"usage"}, "quota": {"usage"}, "tag": {"describe"}, "annotate": {"describe"},
	"run": {"serve"}, "server": {"serve"}, "daemon": {"serve"}, "verify": {"check"}, "fsck": {"check"}, "vacuum": {"compact"},
	"tail": {"watch"}, "follow": {"watch"}, "events": {"watch"},
}

// flagHabits are flags of other programs' commands that do not exist here, each with the
// alternative.
var flagHabits = map[string]map[string]string{
	"rm":  {"rRf": `"labshelf folder rm SET/FOLDER/" deletes a folder, "labshelf rm --set SET" a set`},
	"cp":  {"rRa": `"labshelf folder cp SET/FOLDER/ TO" copies a folder`},
	"mv":  {"rR": `"labshelf folder mv SET/FOLDER/ TO" moves a folder`},
	"put": {"rRa": "put uploads folders with everything in them: omit the flag"},
	"get": {"rRa": "get downloads sets with all their files: omit the flag"},
	"ls":  {"a": "--all also lists deleted objects", "R": "a set is listed with the files of all its folders: omit the flag", "tS": "--order sorts"},
}

// Habit returns the command that corresponds to a command of another program, or "". known are the
// commands at that level.
func Habit(word string, known []string) string {
	for _, candidate := range habits[strings.ToLower(word)] {
		first, _, _ := strings.Cut(candidate, " ")
		if slices.Contains(known, first) {
			return candidate
		}
	}
	return ""
}

// Flag returns advice for a short flag that a command does not have, or "".
func Flag(command, shorthand string) string {
	for flags, advice := range flagHabits[command] {
		if shorthand != "" && strings.Contains(flags, shorthand) {
			return advice
		}
	}
	return ""
}
