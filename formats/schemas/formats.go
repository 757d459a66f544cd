package schemas

import (
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// formatNouns describe the valid strings of a format.
var formatNouns = map[string]string{
	"date":      "a date such as 2026-01-31",
	"time":      "a time with its zone, such as 14:30:00Z",
	"date-time": "a date and time with its zone, such as 2026-01-31T14:30:00Z",
	"duration":  "a duration such as P3DT2H",
	"email":     "an e-mail address",
	"uri":       "an address with its scheme, such as https://example.org/",
	"uuid":      "a UUID",
}

// formatOf returns the check of a format, or nil if the format is not checked.
func formatOf(name string) func(text string) bool {
	switch name {
	case "date":
		return isDate
	case "time":
		return isTime
	case "date-time":
		return isDateTime
	case "duration":
		return func(text string) bool { return text != "P" && durationText().MatchString(text) }
	case "email":
		return isEmail
	case "hostname":
		return isHostname
	case "ipv4":
		return isIPv4
	case "ipv6":
		return isIPv6
	case "uri":
		return func(text string) bool { return addressText().MatchString(text) && isIRI(text) }
	case "uri-reference":
		return func(text string) bool { return addressText().MatchString(text) && isIRIReference(text) }
	case "iri":
		return isIRI
	case "iri-reference":
		return isIRIReference
	case "uuid":
		return func(text string) bool { return uuidText().MatchString(text) }
	case "json-pointer":
		return func(text string) bool { return pointerText().MatchString(text) }
	case "relative-json-pointer":
		return func(text string) bool { return relativeText().MatchString(text) }
	case "regex":
		return func(text string) bool {
			_, err := checkPattern(text)
			return err == nil
		}
	}
	return nil
}

// Regular expressions of formats, compiled at first use.
var (
	timeText     = lazily(`^([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(\.\d+)?([zZ]|([+-])([01]\d|2[0-3]):([0-5]\d))$`)
	durationText = lazily(`^P(\d+W|(\d+Y(\d+M(\d+D)?)?|\d+M(\d+D)?|\d+D)?(T(\d+H(\d+M(\d+S)?)?|\d+M(\d+S)?|\d+S))?)$`)
	localText    = lazily("^([A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*|\"[^\"\\\\]*\")$")
	labelText    = lazily(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$`)
	uuidText     = lazily(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
	pointerText  = lazily(`^(/([^/~]|~[01])*)*$`)
	relativeText = lazily(`^(0|[1-9]\d*)(#|(/([^/~]|~[01])*)*)$`)

	// addressText matches the characters of RFC 3986, with brackets only around an IP address and
	// at most one @ before the path.
	addressText = lazily(`^([A-Za-z][A-Za-z0-9+.-]*:)?(//(` + uriName + `*@)?(\[` + uriName + `*\])?` + uriName + `*([/?#]` + uriRest + `*)?|/|/?[!#$%&'()*+,:;=?@A-Za-z0-9._~-]` + uriRest + `*)?$`)
)

const (
	uriName = `[!$%&'()*+,:;=A-Za-z0-9._~-]`
	uriRest = `[!#$%&'()*+,/:;=?@A-Za-z0-9._~-]`
)

func lazily(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// isTime accepts the leap second in the last minute of a day of UTC.
func isTime(text string) bool {
	parts := timeText().FindStringSubmatch(text)
	if parts == nil || parts[3] != "60" {
		return parts != nil
	}
	minutes := func(hour, minute string) int {
		h, _ := strconv.Atoi(hour) // digits, or "" for Z
		m, _ := strconv.Atoi(minute)
		return 60*h + m
	}
	offset := minutes(parts[7], parts[8])
	if parts[6] == "+" {
		offset = -offset
	}
	const day = 24 * 60
	return (minutes(parts[1], parts[2])+offset+day)%day == day-1
}

func isDateTime(text string) bool {
	const date = len(time.DateOnly)
	return len(text) > date && (text[date] == 'T' || text[date] == 't') && isDate(text[:date]) && isTime(text[date+1:])
}

// isEmail reports whether a text is an address of RFC 5321 in ASCII.
func isEmail(text string) bool {
	at := strings.LastIndexByte(text, '@')
	if at < 0 || at > 64 || len(text) > 254 || !localText().MatchString(text[:at]) {
		return false
	}
	domain := text[at+1:]
	if !strings.HasPrefix(domain, "[") || !strings.HasSuffix(domain, "]") {
		return isHostname(strings.TrimSuffix(domain, "."))
	}
	domain = domain[1 : len(domain)-1]
	if ip, ok := strings.CutPrefix(domain, "IPv6:"); ok {
		return isIPv6(ip)
	}
	return isIPv4(domain)
}

func isHostname(text string) bool {
	if len(text) > 253 {
		return false
	}
	for label := range strings.SplitSeq(text, ".") {
		if len(label) > 63 || !labelText().MatchString(label) {
			return false
		}
	}
	return true
}

func isIPv4(text string) bool {
	ip, err := netip.ParseAddr(text)
	return err == nil && ip.Is4()
}

func isIPv6(text string) bool {
	ip, err := netip.ParseAddr(text)
	return err == nil && ip.Is6() && ip.Zone() == ""
}

// isIRI reports whether a text is an absolute address.
func isIRI(text string) bool {
	u, ok := parseAddress(text)
	return ok && u.IsAbs()
}

func isIRIReference(text string) bool {
	_, ok := parseAddress(text)
	return ok && !strings.Contains(text, `\`)
}

// parseAddress parses an address. A host in brackets must be an IPv6 address.
func parseAddress(text string) (*url.URL, bool) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, false
	}
	if host := u.Hostname(); strings.Contains(host, ":") {
		return u, strings.Contains(u.Host, "[") && strings.Contains(u.Host, "]") && isIPv6(host)
	}
	return u, true
}
