package containers

import (
	"strings"

	"labshelf/metadata"
	"labshelf/repository/core"
)

func checkUsername(name string) error {
	allowed := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-@", r)
	}
	if name == "" || len(name) > core.MaxUsername || strings.ContainsFunc(name, func(r rune) bool { return !allowed(r) }) {
		return core.Invalid("username", "username must have 1 to %d characters, each a letter a-z or A-Z, a digit, or one of . _ - @", core.MaxUsername)
	}
	return nil
}

// checkReserved rejects usernames that have another meaning where a user is named: "me", and ids.
func checkReserved(name string) error {
	_, isID := metadata.ParseID(strings.ToUpper(name))
	if isID || strings.EqualFold(name, core.Me) {
		return core.Invalid("username", "username must not be %q, which refers to the caller, or have the form of an id", core.Me)
	}
	return nil
}

// CheckChosen rejects usernames that people must not choose for themselves, because they look like
// an anonymous user, a path element or a command-line option.
func CheckChosen(name string) error {
	if strings.EqualFold(name, "anonymous") || name == "." || name == ".." || strings.HasPrefix(name, "-") {
		return core.Invalid("username", `username must not be "anonymous", "." or "..", or begin with -`)
	}
	return nil
}
