package config

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"

	"labshelf/cli/exit"
	_ "labshelf/internal/testhome"
	"labshelf/repository/webhooks"
)

// loadWith loads a configuration like a command does. args are flags. environ has the form
// VARIABLE=value.
func loadWith(t *testing.T, args []string, environ ...string) (Config, error) {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return Load(flags, environ)
}

func tempFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestExampleEqualsDefaults(t *testing.T) {
	t.Parallel()
	const example = "../../config.example.toml"
	want, err := loadWith(t, []string{"--config", tempFile(t, "empty.toml", "")})
	if err != nil {
		t.Fatal(err)
	}
	got, err := loadWith(t, []string{"--config", example})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Config{}, webhooks.Hosts{}), cmpopts.EquateComparable()); diff != "" {
		t.Errorf("the example differs from the defaults (-default +example):\n%s", diff)
	}
	if err := got.Check(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
	text, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	inFile, err := parseFile(example, text)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	numbers := keyLines(text)
	for _, s := range settings() {
		at := numbers[s.name] - 1
		if _, ok := inFile[s.name]; !ok { // settings missing from the example are for clusters only
			at = slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "# "+s.name+" = ") })
		}
		if at < 0 {
			t.Errorf("%s is missing from the example", s.name)
			continue
		}
		for at > 0 && lines[at] != "" && !strings.HasPrefix(lines[at], "#") {
			at--
		}
		if !strings.HasPrefix(lines[at], "#") {
			t.Errorf("%s has no comment above it", s.name)
		}
	}
}

// another has, for each setting, a valid value that differs from the default, and invalid values.
var another = map[string]struct {
	text  string
	wrong []string
}{
	"data":               {"elsewhere", nil},
	"metadata":           {"postgres://labshelf@db.example.org:5433/labshelf?sslmode=verify-full", []string{"mysql://a/b", "postgres://a", "postgres://a/", "meta.db", "host=a dbname=b"}},
	"blobs":              {"s3://bucket/a/b", []string{"s3://", "s3:///a", "S3://Bucket/a", "s3://u:p@bucket/a", "s3://bucket/a?b", "https://s3.example.org/bucket", "/srv/blobs", "s3://bucket/a#"}},
	"s3_endpoint":        {"https://s3.example.org:9000", []string{"s3.example.org", "https://s3.example.org/bucket", "https://k:s@s3.example.org", "https://s3.example.org?a=b"}},
	"s3_region":          {"eu-central-1", nil},
	"s3_keys":            {"s3.keys", nil},
	"redirect_downloads": {"true", []string{"yes", "1"}},
	"node":               {"data1", nil},
	"listen":             {"[::1]:0", []string{"8080", "localhost", "localhost:http", "127.0.0.1:65536", ":-1"}},
	"base_url":           {"https://data.example.org/repo/v1", []string{"https://data.example.org", "https://data.example.org/v1/", "/v1", "ftp://a/v1", "https://a/v1?x=/v1", "https://a/v1#/v1", "https:///v1", "https://u:p@a/v1"}},
	"allow_plain_http":   {"true", []string{"yes", "1"}},
	"tls_cert":           {"cert.pem", nil},
	"tls_key":            {"key.pem", nil},
	"trusted_proxies":    {"10.0.0.7, fd00::/8", []string{"proxy", "10.0.0.0/33", "10.0.0.0/8 192.168.0.0/16"}},
	"allowed_hosts":      {"data.example.org, 192.0.2.7,fd00::7", []string{"*", "a b", "https://a", "a/b", "a:80", "[::1]:80", "*.example.org", "-", "ä"}},
	"allowed_origins": {"https://app.example.org,http://localhost:5173, http://[::1]:81", []string{"*", "null", "app.example.org", "https://a/", "https://a/b", "https://a:443",
		"http://a:80", "https://A", "ftp://a", "https://u@a", "https://a?b", "https://a#", "https://*.a", "https://a:", "https://ä", "https://"}},
	"webhook_hosts":          {"hooks.example.org, *.example.com,10.0.0.0/8", []string{"*", "https://a", "a:80", "10.0.0.0/33", "a b", "ä"}},
	"failed_keys_per_minute": {"0", []string{"-1", "many", "1.5", "9999999999"}},
	"anonymous":              {"on", []string{"true", "On", "open"}},
	"anonymous_per_minute":   {"0", []string{"-1", "many", "1.5", "9999999999"}},
	"scrub_period":           {"0", []string{"-1d", "30", "month", "1d-1h"}},
	"trash_grace":            {"1d12h", []string{"-1d", "30", "1w"}},
	"upload_age":             {"12h", []string{"-1d", "0", "week"}},
	"link_lifetime":          {"90d", []string{"-1d", "month"}},
	"invitations":            {"admins", []string{"users", "Admins"}},
	"session_age":            {"1h", []string{"-1d", "0", "month"}},
	"min_rate":               {"0", []string{"-1", "1KiB/s", "slow"}},
	"view_data_url":          {"https://c.example.org/{dataspaceId}/{setId}/{id}", []string{"https://c.example.org/", "/view/{id}", "https://c.example.org/{id}/{nonsense}", "{id}"}},
	"max_upload":             {"10GiB", []string{"-1", "1.5GB", "10 G", "GB", "9223372036854775808", "9000000TiB", "0x10"}},
	"dataspace_quota":        {"500GiB", []string{"-1", "much"}},
	"user_quota":             {"1TB", []string{"-1", "none"}},
	"hold_up_to":             {"1MiB", []string{"-1", "1048577", "1.5KiB", "small"}},
	"page_size":              {"1", []string{"0", "1001", "ten", "1.5"}},
	"directory_page_size":    {"999", []string{"0", "1001"}},
	"dataspaces_by":          {"users", []string{"admin", "Users"}},
	"verify_reads":           {"true", []string{"on", "yes", "-1", "1.5MiB", "TRUE"}},
	"stall_timeout":          {"1d", []string{"0s", "-1s", "30", "soon"}},
	"shutdown_timeout":       {"1h30m", []string{"0s", "-1s"}},
	"log_level":              {"debug", []string{"trace", "INFO"}},
	"log_format":             {"console", []string{"text"}},
	"slow_request":           {"500ms", []string{"-1s", "2", "never"}},
	"metrics":                {"sysadmin", []string{"on", "9100", "localhost", "127.0.0.1:x", "sysadmin:9100x"}},
	"pprof":                  {"127.0.0.1:6060", []string{"on", "sysadmin", "6060", "127.0.0.1:65536"}},
}

// TestPrecedence sets every setting in each way, and in all ways together.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			other := another[s.name].text
			if other == "" {
				t.Fatal("the test has no other value")
			}
			empty := tempFile(t, "empty.toml", "")
			base, err := loadWith(t, []string{"--config", empty})
			if err != nil {
				t.Fatal(err)
			}
			flag := "--" + flagName(s.name) + "="
			byFile := tempFile(t, "config.toml", s.name+" = '"+other+"'\n")
			fileSaysDefault := tempFile(t, "config.toml", s.name+" = '"+s.fallback+"'\n")
			tests := []struct {
				name    string
				args    []string
				environ string
				changed bool
			}{
				{"flag", []string{"--config", fileSaysDefault, flag + other}, s.fallback, true},
				{"environment", []string{"--config", fileSaysDefault}, other, true},
				{"file", []string{"--config", byFile}, "", true},
				{"flag over the others", []string{"--config", byFile, flag + s.fallback}, other, false},
				{"default", []string{"--config", empty}, "", false},
			}
			for _, tt := range tests {
				got, err := loadWith(t, tt.args, variableName(s.name)+"="+tt.environ)
				if err != nil {
					t.Errorf("%s: %v", tt.name, err)
				}
				if changed := !cmp.Equal(base, got, cmp.AllowUnexported(Config{}, webhooks.Hosts{}), cmpopts.EquateComparable()); changed != tt.changed {
					t.Errorf("%s: changed = %v", tt.name, changed)
				}
			}
		})
	}
}

// TestErrorsNameKeyLocationAndRule sets each invalid value in each way. The error must name the
// key, the location and the rule.
func TestErrorsNameKeyLocationAndRule(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		for _, wrong := range another[s.name].wrong {
			file := tempFile(t, "config.toml", "# a line\n"+s.name+" = '"+wrong+"'\n")
			tests := []struct {
				from    string
				args    []string
				environ string
			}{
				{"--" + flagName(s.name), []string{"--config", tempFile(t, "empty.toml", ""), "--" + flagName(s.name) + "=" + wrong}, ""},
				{variableName(s.name), []string{"--config", tempFile(t, "empty.toml", "")}, wrong},
				{file + ":2", []string{"--config", file}, ""},
			}
			if s.isSwitch() {
				tests = tests[1:] // pflag checks such flags earlier
			}
			for _, tt := range tests {
				_, err := loadWith(t, tt.args, variableName(s.name)+"="+tt.environ)
				if !errors.Is(err, exit.ErrUsage) || !strings.Contains(err.Error(), tt.from+": "+s.name+" must be ") {
					t.Errorf("%s %q from %s: %v", s.name, wrong, tt.from, err)
				}
			}
		}
	}
}

func TestFileErrorsNameTheLine(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"unknown key", "data = 'x'\n\nlisen = 'y'\n", `:3: unknown key "lisen"; did you mean listen?`},
		{"unknown, without a hint", "colour = 'red'\n", `:1: unknown key "colour"`},
		{"two unknown keys", "b1 = 1\na1 = 2\n", ":1: unknown key \"b1\"\n"},
		{"table", "[listen]\nport = 8080\n", ":1: listen must be a string"},
		{"table of another name", "# x\n[server]\nport = 8080\n", `:2: unknown key "server"`},
		{"dotted", "log.level = 'info'\n", `:1: unknown key "log"`},
		{"date", "listen = 2015-03-30\n", ":1: listen must be a string"},
		{"list of numbers", "trusted_proxies = [10]\n", ":1: trusted_proxies must be a string"},
		{"twice", "listen = 'a:1'\nlisten = 'b:1'\n", ":2: "},
		{"broken", "data = 'x'\nlisten = \n", ":2: "},
		{"admin key", "admin_key = '0123456789012345678901234567890123456789'\n", `:1: unknown key "admin_key"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := tempFile(t, "config.toml", tt.text)
			_, err := loadWith(t, []string{"--config", path})
			if !errors.Is(err, exit.ErrUsage) || !strings.Contains(err.Error(), path+tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestFileValues(t *testing.T) {
	t.Parallel()
	path := tempFile(t, "config.toml", "max_upload = 1024\npage_size = 7\nverify_reads = true\ntrusted_proxies = ['10.0.0.7', '::1']\n")
	c, err := loadWith(t, []string{"--config", path})
	if err != nil {
		t.Fatal(err)
	}
	if c.MaxUpload != 1024 || c.PageSize != 7 || c.VerifyReads != math.MaxInt64 || len(c.TrustedProxies) != 2 {
		t.Errorf("got %+v", c)
	}
}

// TestVerifyReads: the setting was a boolean before it was a size. Old values keep their meaning.
func TestVerifyReads(t *testing.T) {
	t.Parallel()
	const all = math.MaxInt64
	for _, tt := range []struct {
		args []string
		file string
		want int64
	}{
		{nil, "", 64 << 20},
		{nil, "verify_reads = true", all}, {nil, "verify_reads = false", 0}, {nil, "verify_reads = '1MiB'", 1 << 20}, {nil, "verify_reads = 4096", 4096},
		{[]string{"--verify-reads"}, "", all}, {[]string{"--verify-reads=true"}, "", all}, {[]string{"--verify-reads=false"}, "", 0},
		{[]string{"--verify-reads=0"}, "verify_reads = true", 0}, {[]string{"--verify-reads=2MB"}, "", 2e6},
	} {
		c, err := loadWith(t, append([]string{"--config", tempFile(t, "config.toml", tt.file+"\n")}, tt.args...))
		if err != nil || c.VerifyReads != tt.want {
			t.Errorf("%q with %q: up to %d bytes, want %d (%v)", tt.args, tt.file, c.VerifyReads, tt.want, err)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	args := []string{"--config", tempFile(t, "empty.toml", "")}
	if _, err := loadWith(t, args, "LABSHELF_LISEN=x", "PATH=/bin", "labshelf_page=1"); !errors.Is(err, exit.ErrUsage) ||
		!strings.Contains(err.Error(), "LABSHELF_LISEN: unknown variable; did you mean LABSHELF_LISTEN?") {
		t.Errorf("an unknown variable: %v", err)
	}
	c, err := loadWith(t, args, "LABSHELF_LISTEN=", "LABSHELF_ADMIN_KEY=secret")
	if err != nil || c.Listen != "127.0.0.1:8080" || c.AdminKey != "secret" {
		t.Errorf("%v: listen %q, admin key %q", err, c.Listen, c.AdminKey)
	}
	named := tempFile(t, "config.toml", "page_size = 7\n")
	if c, err = loadWith(t, nil, "LABSHELF_CONFIG="+named); err != nil || c.PageSize != 7 {
		t.Errorf("%v: page size %d", err, c.PageSize)
	}
	if c, err = loadWith(t, nil, "LABSHELF_DATA="+filepath.Dir(named)); err != nil || c.PageSize != 7 {
		t.Errorf("%v: page size %d from the file in the data directory", err, c.PageSize)
	}
	if _, err = loadWith(t, []string{"--config", filepath.Join(t.TempDir(), "none.toml")}); !errors.Is(err, exit.ErrUsage) {
		t.Errorf("a named file that is missing: %v", err)
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "12B": 12, "2kB": 2000, "2KB": 2000, "2 MB": 2e6, "10GB": 10e9, "10gib": 10 << 30, "8EB": -1, "8191PiB": 8191 << 50,
		"8192PiB": -1, "9223372036854775807": 1<<63 - 1,
	} {
		if got, err := size(text); want < 0 && err == nil || want >= 0 && (err != nil || got != want) {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestListeningForOthersNeedsTLS(t *testing.T) {
	t.Parallel()
	ok := []string{"127.0.0.1:1", "127.1.2.3:1", "[::1]:1", "[::ffff:127.0.0.1]:1", "localhost:1"}
	refused := []string{":1", "0.0.0.0:1", "[::]:1", "192.168.1.1:1", "myhost:1", "localhost.example.org:1"}
	for _, listen := range ok {
		c := Config{Listen: listen}
		if err := c.Check(); err != nil {
			t.Errorf("%s: %v", listen, err)
		}
	}
	for _, listen := range refused {
		c := Config{Listen: listen}
		err := c.Check()
		if !errors.Is(err, exit.ErrUsage) || !strings.Contains(err.Error(), "tls_cert and tls_key") || !strings.Contains(err.Error(), "allow_plain_http = true") {
			t.Errorf("%s: %v", listen, err)
		}
		c.allowPlainHTTP = true
		if err := c.Check(); err != nil {
			t.Errorf("%s with allow_plain_http: %v", listen, err)
		}
		c = Config{Listen: listen, TLSCert: "c", TLSKey: "k"}
		if err := c.Check(); err != nil {
			t.Errorf("%s with TLS: %v", listen, err)
		}
	}
	for _, c := range []Config{
		{Listen: ok[0], TLSCert: "c"},
		{Listen: ok[0], TLSKey: "k"},
		{Listen: ok[0], AdminKey: "short"},
		{Listen: ok[0], AdminKey: strings.Repeat("x", 31)},
		{Listen: ok[0], AdminKey: strings.Repeat("x", 31) + " x"},
	} {
		err := c.Check()
		if !errors.Is(err, exit.ErrUsage) {
			t.Errorf("%+v: %v", c, err)
		}
		if c.AdminKey != "" && strings.Contains(err.Error(), c.AdminKey) {
			t.Errorf("the error shows the key: %v", err)
		}
	}
}
