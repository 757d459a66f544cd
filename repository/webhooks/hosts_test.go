package webhooks_test

import (
	"errors"
	"strings"
	"testing"

	"labshelf/repository/webhooks"
)

// newSender returns a Sender with an allow-list.
func newSender(t *testing.T, c webhooks.Config, entries ...string) *webhooks.Sender {
	t.Helper()
	hosts, err := webhooks.ParseHosts(entries)
	if err != nil {
		t.Fatal(err)
	}
	c.Hosts = hosts
	s := webhooks.NewSender(c)
	t.Cleanup(s.Close)
	return s
}

func TestHostsAreNamesAddressesAndPrefixes(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{"hooks.example.org", "*.example.org", "localhost", "Hooks.Example.org.", "192.0.2.7", "::1", "10.0.0.0/8", "fd00::/8"} {
		if _, err := webhooks.ParseHosts([]string{entry}); err != nil {
			t.Errorf("%q: %v", entry, err)
		}
	}
	for _, entry := range []string{"", "*", "*.", ".", "a..b", "hooks.example.org:443", "https://a.example", "-a.example", "bücher.example", "10.0.0", "10.0.0.0/33", "a/8",
		"2130706433", "127.1", "fe80::1%eth0", "::ffff:10.0.0.0/104", "a.*.example", strings.Repeat("a", 64) + ".example"} {
		if _, err := webhooks.ParseHosts([]string{"ok.example", entry}); !errors.Is(err, webhooks.ErrHost) {
			t.Errorf("%q: %v, want ErrHost", entry, err)
		}
	}
}

// TestAllowList tests which allow-list allows a message to which address, with and without a host
// name.
func TestAllowList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		list string
		yes  string // hosts and addresses; host=address if they differ
		no   string
	}{
		{"", "", "8.8.8.8 127.0.0.1 hooks.example.org=8.8.8.8"},
		{"8.8.8.8", "8.8.8.8 any.example=8.8.8.8 ::ffff:8.8.8.8", "8.8.8.9 any.example=8.8.8.9"},
		{"hooks.example.org", "hooks.example.org=8.8.8.8 HOOKS.example.org.=8.8.8.8",
			"hooks.example.org=10.0.0.1 hooks.example.org=127.0.0.1 hooks.example.org=169.254.169.254 hooks.example.org=100.64.0.1 hooks.example.org=224.0.0.1 " +
				"hooks.example.org=::1 hooks.example.org=fd00::1 hooks.example.org=fe80::1 hooks.example.org=ff02::1 hooks.example.org=::ffff:127.0.0.1 " +
				"hooks.example.org=64:ff9b::7f00:1 hooks.example.org=2002:7f00:1:: hooks.example.org=0.0.0.0 hooks.example.org=:: a.hooks.example.org=8.8.8.8 example.org=8.8.8.8"},
		{"*.example.org", "a.example.org=8.8.8.8 a.b.example.org=8.8.8.8", "example.org=8.8.8.8 badexample.org=8.8.8.8 a.example.org=10.0.0.1"},
		{"0.0.0.0/0 ::/0", "8.8.8.8 any.example=8.8.8.8 2606:4700::1", "10.0.0.1 127.0.0.1 any.example=192.168.1.1 ::1 fd00::1 2002:7f00:1::"},
		{"10.0.0.0/8", "10.1.2.3 any.example=10.1.2.3 ::ffff:10.1.2.3", "11.0.0.1 192.168.0.1 127.0.0.1"},
		{"10.2.0.0/16 hooks.example.org", "hooks.example.org=10.2.0.1 hooks.example.org=8.8.8.8", "hooks.example.org=10.3.0.1"},
		{"fd00::/8 ::1 127.0.0.1", "fd12::1 ::1 127.0.0.1 localhost=127.0.0.1", "fe80::1 127.0.0.2 8.8.8.8 fc00::1"},
		{"0.0.0.0/1", "8.8.8.8", "10.0.0.1 200.1.1.1"},
	} {
		hosts, err := webhooks.ParseHosts(strings.Fields(c.list))
		if err != nil {
			t.Fatal(err)
		}
		for want, cases := range map[bool]string{true: c.yes, false: c.no} {
			for _, one := range strings.Fields(cases) {
				host, address, named := strings.Cut(one, "=")
				if !named {
					address = host
				}
				err := webhooks.Allows(hosts, host, address)
				if (err == nil) != want {
					t.Errorf("list %q, %s: %v, want allowed: %t", c.list, one, err, want)
				}
				if err != nil && (!errors.Is(err, webhooks.ErrRefused) || !strings.Contains(err.Error(), "webhook_hosts")) {
					t.Errorf("list %q, %s: the error %q does not name the setting", c.list, one, err)
				}
			}
		}
	}
}
