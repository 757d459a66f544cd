package reference

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"labshelf/cli/display"
)

// address is a parsed URL of a record: the URL of its resource in the API, or of its page.
type address struct {
	Root     string // of the service, without /v1
	Kind, id string // "" if it is not the URL of a record
	Rest     string // the part after the id
}

var addressParts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)^(https?://[^/?#]+(?:/.*?)??)(?:/v1)?/(dataspaces|sets|resources|users)/([^/?#:]+)(.*)$`)
})

// ParseAddress parses a URL; ok reports whether text is a URL.
func ParseAddress(text string) (a address, ok bool) {
	if parts := addressParts().FindStringSubmatch(text); parts != nil {
		return address{parts[1], strings.ToLower(parts[2]), parts[3], parts[4]}, true
	}
	lower := strings.ToLower(text)
	return address{}, strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
}

var pageAddress = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)^(https?://[^/?#]+(?:/[^?#]*?)??)(?:/v1)?/(?:schemas/[^?#]*|webhooks/[^?#]*|(?:account|audit|links|search|signin|trash|usage|users|webhooks)/?)?(?:[?#].*)?$`)
})

// ServiceOf returns the address of the service, without /v1, for the URL of a record or another
// page; ok reports whether text is a URL.
func ServiceOf(text string) (service string, ok bool) {
	if a, isURL := ParseAddress(text); isURL && a.Kind != "" {
		return a.Root, true
	}
	parts := pageAddress().FindStringSubmatch(text)
	if parts == nil {
		return "", false
	}
	return parts[1], true
}

// of reports whether the address belongs to the service with that base URL.
func (a address) of(base string) bool {
	return strings.EqualFold(a.Root, strings.TrimSuffix(base, "/v1"))
}

// SetID returns the id of a set in a reference: an id, or a URL of the set. ok is false for a name.
func SetID(ref string) (id string, ok bool) {
	a, isURL := ParseAddress(ref)
	switch {
	case isURL:
		return a.id, a.Kind == SetKind
	case containerName().MatchString(ref):
		return "", false
	}
	return ref, IDPattern.MatchString(ref)
}

// SetAddress splits a URL of a set that is followed by a colon and the name of a resource.
func SetAddress(text string) (set, name string, ok bool) {
	a, isURL := ParseAddress(text)
	name, ok = strings.CutPrefix(a.Rest, ":")
	return strings.TrimSuffix(text, a.Rest), name, ok && isURL && a.Kind == SetKind && name != ""
}

// FolderAddress splits a URL of a set that may be followed by a folder, as in the address of its
// page (?folder=raw/) or in a reference (/raw/). The folder ends in a slash; "" is the set itself.
func FolderAddress(text string) (set, folder string, ok bool) {
	a, isURL := ParseAddress(text)
	if !isURL || a.Kind != SetKind {
		return "", "", false
	}
	rest, err := url.Parse(a.Rest)
	if err != nil || strings.HasPrefix(a.Rest, ":") {
		return "", "", false
	}
	folder = strings.TrimPrefix(cmp.Or(rest.Query().Get("folder"), rest.Path), "/")
	return strings.TrimSuffix(text, a.Rest), folder, folder == "" || strings.HasSuffix(folder, "/")
}

// PageURL returns the URL of the page of a record, printable.
func PageURL(url string) string {
	a, _ := ParseAddress(url)
	return display.Printable(a.Root + "/" + a.Kind + "/" + a.id)
}
