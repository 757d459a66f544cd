package reference

import (
	"strings"

	"labshelf/cli/exit"
)

// Complete returns an error if a reference, or a part between slashes and colons, is empty:
// DATASPACE/ is not a set, and SET: is not a resource. An empty part would match empty titles. URLs
// have their own rules.
func Complete(ref string) error {
	if Empty(ref) {
		return exit.Usagef("incomplete reference %q: a name, id or URL is empty", ref)
	}
	if _, isURL := ParseAddress(ref); isURL {
		return nil
	}
	before, after, inDataspace := strings.Cut(ref, "/")
	switch {
	case inDataspace && Empty(before):
		return exit.Usagef("incomplete reference %q: the dataspace before the slash is missing; a set is SET or DATASPACE/SET", ref)
	case inDataspace && Empty(after):
		return exit.Usagef("incomplete reference %q: the set after the slash is missing; the dataspace alone is %q, and one of its sets is DATASPACE/SET",
			ref, before)
	}
	return nil
}

// Empty reports whether a part of a reference consists of spaces and separators only.
func Empty(part string) bool { return strings.Trim(strings.TrimSpace(part), "/: \t") == "" }

// CheckName rejects a name of a resource or folder that no system can use as a path. The
// argument what is the source of the name.
func CheckName(what, name string) error {
	for element := range strings.SplitSeq(name, "/") {
		if strings.TrimSpace(element) == "" || element == "." || element == ".." {
			return exit.Usagef("%s must not have an element that is empty, %q or %q, got %q", what, ".", "..", name)
		}
	}
	return nil
}
