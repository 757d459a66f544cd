package config

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"labshelf/cli/display"
	"labshelf/paging"
	"labshelf/repository/maintenance"
	"labshelf/repository/webhooks"
)

// The parsers of settings. Their errors state the rule, worded to follow the name of the setting.

func anyText(text string) (string, error) { return text, nil }

func nonEmpty(text string) (string, error) {
	if text == "" {
		return "", errors.New("must not be empty")
	}
	return text, nil
}

func boolean(text string) (bool, error) {
	if text != "true" && text != "false" {
		return false, errors.New("must be true or false")
	}
	return text == "true", nil
}

func oneOf(choices ...string) func(string) (string, error) {
	return func(text string) (string, error) {
		if !slices.Contains(choices, text) {
			return "", fmt.Errorf("must be one of %s", strings.Join(choices, ", "))
		}
		return text, nil
	}
}

func sysadminOrUsers(text string) (users bool, err error) {
	role, err := oneOf("sysadmin", "users")(text)
	return role == "users", err
}

func sysadminsOrAdmins(text string) (admins bool, err error) {
	role, err := oneOf("sysadmins", "admins")(text)
	return role == "admins", err
}

func onOrOff(text string) (on bool, err error) {
	word, err := oneOf(Off, "on")(text)
	return word == "on", err
}

func logLevel(text string) (zerolog.Level, error) {
	name, err := oneOf("debug", "info", "warn", "error")(text)
	if err != nil {
		return zerolog.InfoLevel, err
	}
	return zerolog.ParseLevel(name)
}

func pageSize(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > paging.MaxLimit {
		return 0, fmt.Errorf("must be a whole number from 1 to %d", paging.MaxLimit)
	}
	return n, nil
}

func count(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, errors.New("must be a whole number, 0 or greater")
	}
	return int(n), nil
}

func duration(text string) (time.Duration, error) {
	d, err := maintenance.ParseAge(text)
	if err != nil || d == 0 {
		return 0, errors.New("must be a time greater than 0, such as 30s or 2m")
	}
	return d, nil
}

func period(text string) (time.Duration, error) {
	d, err := maintenance.ParseAge(text)
	if err != nil {
		return 0, errors.New("must be a time such as 30d or 12h, or 0")
	}
	return d, nil
}

func size(text string) (int64, error) { return display.ParseBytes(text) }

// inlineSize parses the size limit of inline bodies, which are stored in the metadata. Above 1 MiB
// a body costs more as metadata pages than as a file.
func inlineSize(text string) (int64, error) {
	n, err := size(text)
	if err == nil && n > 1<<20 {
		err = errors.New("must be 1MiB at most")
	}
	return n, err
}

// verifiedSize parses the size of the longest file that is verified. The earlier boolean values
// still work: true for every file, false for no file.
func verifiedSize(text string) (int64, error) {
	switch text {
	case "true":
		return math.MaxInt64, nil
	case "false":
		return 0, nil
	}
	n, err := size(text)
	if err != nil {
		err = errors.New("must be true, false, or a size such as 64MiB")
	}
	return n, err
}

func hostPort(text string) (string, error) {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", errors.New("must be HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080")
	}
	return text, nil
}

// adminAddress returns a parser of the address of an admin listener, which requires no key. It also
// accepts each of words. Without a host the listener is local: other machines can only connect if
// the value names a host.
func adminAddress(words ...string) func(string) (string, error) {
	return func(text string) (string, error) {
		if slices.Contains(words, text) {
			return text, nil
		}
		address, err := hostPort(text)
		if err != nil {
			return "", fmt.Errorf("must be %s, or HOST:PORT such as 127.0.0.1:9100", strings.Join(words, ", "))
		}
		if host, port, _ := net.SplitHostPort(address); host == "" {
			address = net.JoinHostPort("127.0.0.1", port)
		}
		return address, nil
	}
}

// BaseURL parses the base URL of a service, which ends with /v1. It returns nil for "". Its error
// states the rule.
func BaseURL(text string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	u, err := absoluteURL(text)
	if err != nil || !strings.HasSuffix(u.Path, "/v1") || u.RawQuery != "" {
		return nil, errors.New("must be an absolute http or https URL that ends with /v1, such as https://data.example.org/v1")
	}
	return u, nil
}

func viewTemplate(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	filled := strings.NewReplacer("{id}", "x", "{setId}", "x", "{dataspaceId}", "x").Replace(text)
	_, err := absoluteURL(filled)
	if err != nil || !strings.Contains(text, "{id}") || strings.ContainsAny(filled, "{}") {
		return "", errors.New("must be an absolute http or https URL with {id} and optionally {setId} and {dataspaceId}")
	}
	return text, nil
}

func absoluteURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err == nil && (u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || strings.Contains(text, "#")) {
		err = errors.New("not an absolute http or https URL")
	}
	return u, err
}

// items yields the items of a comma-separated list.
func items(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" && !yield(item) {
				return
			}
		}
	}
}

func hosts(text string) (list []string, err error) {
	for item := range items(text) {
		if !isHostName(item) {
			return nil, errors.New("must be names or addresses without a port, such as data.example.org or 192.0.2.7")
		}
		list = append(list, item)
	}
	return list, nil
}

func webhookHosts(text string) (webhooks.Hosts, error) {
	return webhooks.ParseHosts(slices.Collect(items(text)))
}

// isHostName reports whether text is an IP address or an ASCII host name, as in the Host header of
// requests.
func isHostName(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	name := strings.ToLower(text)
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == "" && strings.Trim(name, "-.") != ""
}

func origins(text string) (list []string, err error) {
	for item := range items(text) {
		u, err := absoluteURL(item)
		if err != nil || item != u.Scheme+"://"+strings.ToLower(u.Host) || !isHostName(u.Hostname()) || u.Port() == "" && strings.HasSuffix(u.Host, ":") ||
			u.Port() == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
			return nil, errors.New("must be origins as browsers send them, such as https://app.example.org or http://localhost:5173: " +
				"in lower case, no path, no default port, neither * nor null")
		}
		list = append(list, item)
	}
	return list, nil
}

func prefixes(text string) (list []netip.Prefix, err error) {
	for item := range items(text) {
		prefix, err := netip.ParsePrefix(item)
		if addr, plain := netip.ParseAddr(item); plain == nil {
			prefix, err = addr.Unmap().Prefix(addr.Unmap().BitLen())
		}
		if err != nil {
			return nil, errors.New("must be addresses or prefixes, such as 10.0.0.7 or 10.0.0.0/8")
		}
		if addr := prefix.Addr(); addr.Is4In6() && prefix.Bits() >= 96 {
			prefix = netip.PrefixFrom(addr.Unmap(), prefix.Bits()-96)
		}
		list = append(list, prefix.Masked())
	}
	return list, nil
}
