package reference

import (
	"strings"

	"labshelf/cli/exit"
)

// Complete returns an error if a reference is empty, or one of the parts that a slash or a colon
// separates: DATASPACE/ is no set, and SET: is no resource. An empty part would match what has an
// empty title. URLs have their own rules.
func Complete(ref string) error {
	if Empty(ref) {
		return exit.Usagef("%q names nothing: a name, id or URL is empty", ref)
	}
	if _, isURL := ParseAddress(ref); isURL {
		return nil
	}
	before, after, inDataspace := strings.Cut(ref, "/")
	switch {
	case inDataspace && Empty(before):
		return exit.Usagef("%q names nothing: there is no dataspace before the slash; a set is SET or DATASPACE/SET", ref)
	case inDataspace && Empty(after):
		return exit.Usagef("%q names nothing: there is no set after the slash; the dataspace alone is %q, and a set of it DATASPACE/SET",
			ref, before)
	}
	return nil
}

// Empty reports whether a part of a reference is only space and separators.
func Empty(part string) bool { return strings.Trim(strings.TrimSpace(part), "/: \t") == "" }

// CheckName refuses the name of a resource or folder that no system can have as a path. what says
// where the name comes from.
func CheckName(what, name string) error {
	for element := range strings.SplitSeq(name, "/") {
		if strings.TrimSpace(element) == "" || element == "." || element == ".." {
			return exit.Usagef("%s must not have an element that is empty, %q or %q, got %q", what, ".", "..", name)
		}
	}
	return nil
}
