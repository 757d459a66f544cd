package cli

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"labshelf/auth"
)

// config is what the operator decided. Each field has a row in settings, but for adminKey, which has none so that it stands
// neither in a file nor among the arguments, where other users of the machine could read it.
type config struct {
	data, listen          string
	baseURL               *url.URL // nil: from each request
	allowPlainHTTP        bool
	tlsCert, tlsKey       string
	trustedProxies        []netip.Prefix
	allowedHosts          []string
	allowedOrigins        []string
	failedKeys            int // in a minute; 0: no limit
	sessionAge, uploadAge time.Duration
	viewDataURL           string
	maxUpload             int64 // bytes; 0: no limit
	holdUpTo              int64 // bytes; 0: every file is one from the beginning
	pageSize              int
	directoryPageSize     int
	usersCreateDataspaces bool
	verifyReads           int64 // bytes of the longest whole download that is verified; 0: none
	stall, shutdown       time.Duration
	minRate               int64         // bytes per second; 0: any byte counts as progress
	scrubPeriod           time.Duration // 0: never
	trashGrace            time.Duration
	logLevel              zerolog.Level
	logFormat             string
	slowRequest           time.Duration // 0: none is slow
	metrics               string        // an address, off or toSysadmins
	pprof                 string        // an address, or off

	adminKey string // "" means a new one
}

// setting is one key of the configuration. In the file it has its name; in the environment, LABSHELF_ and the name in upper
// case; as a flag, - for _. All three give a text (a list is joined by commas).
type setting struct {
	name     string
	fallback string // what counts where nothing is given
	help     string // for the flag; the word in backquotes stands for the value
	rule     func(c *config, text string) error
}

// settings are all there are.
func settings() []setting { return append(served(), watched()...) }

// served are those of what the service does.
func served() []setting {
	return []setting{
		{"data", defaultData, "`DIR` that holds everything the service keeps",
			into(nonEmpty, func(c *config) *string { return &c.data })},
		{"listen", "127.0.0.1:8080", "`HOST:PORT` to listen on; port 0 takes any free one",
			into(hostPort, func(c *config) *string { return &c.listen })},
		{"base_url", "", "`URL` under which clients reach the service, ending with /v1 (default: taken from each request)",
			into(baseURL, func(c *config) **url.URL { return &c.baseURL })},
		{"allow_plain_http", "false", "listen without TLS where other machines can connect",
			into(boolean, func(c *config) *bool { return &c.allowPlainHTTP })},
		{"tls_cert", "", "`FILE` with the certificate chain, in PEM; with tls_key: serve HTTPS",
			into(anyText, func(c *config) *string { return &c.tlsCert })},
		{"tls_key", "", "`FILE` with the private key of tls_cert, in PEM",
			into(anyText, func(c *config) *string { return &c.tlsKey })},
		{"trusted_proxies", "", "`ADDRESSES` or prefixes whose X-Forwarded-* headers count, such as 10.0.0.0/8",
			into(prefixes, func(c *config) *[]netip.Prefix { return &c.trustedProxies })},
		{"allowed_hosts", "", "`NAMES` or addresses that clients use, beside localhost, the address listened on and that of base_url",
			into(hosts, func(c *config) *[]string { return &c.allowedHosts })},
		{"allowed_origins", "", "`ORIGINS` of web pages whose scripts may use the service, such as https://app.example.org",
			into(origins, func(c *config) *[]string { return &c.allowedOrigins })},
		{"failed_keys_per_minute", "100", "`NUMBER` of requests with unknown keys that an address may send in a minute; 0 is no limit",
			into(count, func(c *config) *int { return &c.failedKeys })},
		{"session_age", "30d", "`TIME` after which a browser that signed in has to do so again",
			into(duration, func(c *config) *time.Duration { return &c.sessionAge })},
		{"view_data_url", "", "`TEMPLATE` of viewDataUrl, a URL with {id}, perhaps {setId}, {dataspaceId} (default: a page of this service)",
			into(viewTemplate, func(c *config) *string { return &c.viewDataURL })},
		{"max_upload", "0", "greatest `SIZE` of a file, in bytes or as 10GB or 10GiB; 0 is no limit",
			into(size, func(c *config) *int64 { return &c.maxUpload })},
		{"upload_age", "7d", "`TIME` for which an upload that comes in parts may pause before what has come of it is removed",
			into(duration, func(c *config) *time.Duration { return &c.uploadAge })},
		{"hold_up_to", "128KiB", "greatest `SIZE` of a file that is committed with its record and moved to a file of its own later, up to 1MiB; 0: none",
			into(holdSize, func(c *config) *int64 { return &c.holdUpTo })},
		{"page_size", "100", "`NUMBER` of objects on a page of sets, resources or keys",
			into(pageSize, func(c *config) *int { return &c.pageSize })},
		{"directory_page_size", "1000", "`NUMBER` of objects on a page of dataspaces, users or privileges",
			into(pageSize, func(c *config) *int { return &c.directoryPageSize })},
		{"dataspaces_by", "sysadmin", "`WHO` may create dataspaces: sysadmin or users",
			into(sysadminOrUsers, func(c *config) *bool { return &c.usersCreateDataspaces })},
		{verifyReadsName, "64MiB", "greatest `SIZE` of a file whose SHA-256 is compared when all of it is downloaded; true: any, false or 0: none",
			into(verifiedSize, func(c *config) *int64 { return &c.verifyReads })},
		{"scrub_period", "30d", "`TIME` in which every file is read once, in the background, to find damage; 0 is never",
			into(period, func(c *config) *time.Duration { return &c.scrubPeriod })},
		{"trash_grace", "14d", "`TIME` for which a purge keeps the files that it takes away",
			into(period, func(c *config) *time.Duration { return &c.trashGrace })},
		{"stall_timeout", "30s", "`TIME` that a client may neither send nor take a byte",
			into(duration, func(c *config) *time.Duration { return &c.stall })},
		{"min_rate", "1KiB", "`SIZE` that a client must send or take in a second, or stall_timeout runs; 0: any byte is enough",
			into(size, func(c *config) *int64 { return &c.minRate })},
		{"shutdown_timeout", "30s", "`TIME` that requests under way get to finish when the service stops",
			into(duration, func(c *config) *time.Duration { return &c.shutdown })},
	}
}

// watched are those of what is told about it.
func watched() []setting {
	return []setting{
		{"log_level", "info", "least `LEVEL` that is logged: debug, info, warn or error",
			into(logLevel, func(c *config) *zerolog.Level { return &c.logLevel })},
		{"log_format", "auto", "`FORMAT` of the log: json, console, or auto, which is console on a terminal",
			into(oneOf("auto", "json", "console"), func(c *config) *string { return &c.logFormat })},
		{"slow_request", "2s", "`TIME` that the service may take for a request before it is logged as slow; 0 is never",
			into(period, func(c *config) *time.Duration { return &c.slowRequest })},
		{"metrics", off, "`WHERE` Prometheus finds figures, at /metrics: off, sysadmin (with a key), or a HOST:PORT of their own",
			into(beside(off, toSysadmins), func(c *config) *string { return &c.metrics })},
		{"pprof", off, "`WHERE` developers find profiles, at /debug/pprof/: off, or a HOST:PORT of their own",
			into(beside(off), func(c *config) *string { return &c.pprof })},
	}
}

// into makes a rule of a parser and the place for what it returns.
func into[T any](parse func(string) (T, error), field func(*config) *T) func(*config, string) error {
	return func(c *config, text string) error {
		v, err := parse(text)
		*field(c) = v
		return err
	}
}

// What is given beside the settings, in the environment or (the first) as a flag.
const (
	configName   = "config"
	adminKeyName = "admin_key"
	environment  = "LABSHELF_"
)

const defaultData = "./data"

const verifyReadsName = "verify_reads"

func flagName(name string) string     { return strings.ReplaceAll(name, "_", "-") }
func variableName(name string) string { return environment + strings.ToUpper(name) }

// addFlags defines the flag of each setting whose name is listed, or of all, and --config.
func addFlags(flags *pflag.FlagSet, names ...string) {
	flags.SortFlags = false
	flags.String(configName, "", "`FILE` with settings (default: config.toml in the data directory, if there is one)")
	for _, s := range settings() {
		switch {
		case len(names) > 0 && !slices.Contains(names, s.name):
		case s.isSwitch():
			flags.Bool(flagName(s.name), false, s.help)
		case s.fallback == "":
			flags.String(flagName(s.name), "", s.help)
		default:
			flags.String(flagName(s.name), "", fmt.Sprintf("%s (default %s)", s.help, s.fallback))
		}
		if s.name == verifyReadsName { // it was a switch once
			if f := flags.Lookup(flagName(s.name)); f != nil {
				f.NoOptDefVal = "true"
			}
		}
	}
}

func (s setting) isSwitch() bool { return s.fallback == "false" }

// value is what somebody gave for a setting.
type value struct {
	text string
	from string // for people: a flag, a variable of the environment, a line of a file
}

// load reads the configuration: from flags, the environment, the file and the defaults, in this order of precedence. All
// mistakes are reported at once, as an errUsage.
func load(flags *pflag.FlagSet, environ []string) (c config, err error) {
	given, problems := fromEnvironment(environ)
	flags.Visit(func(f *pflag.Flag) {
		given[strings.ReplaceAll(f.Name, "-", "_")] = value{f.Value.String(), "--" + f.Name}
	})
	inFile, err := fromFile(configPath(given))
	problems = append(problems, err)
	for _, s := range settings() {
		v, ok := given[s.name]
		if !ok {
			v, ok = inFile[s.name]
		}
		if !ok {
			v = value{s.fallback, "default"}
		}
		if err := s.rule(&c, v.text); err != nil {
			problems = append(problems, fmt.Errorf("%s: %s %w, not %q", v.from, s.name, err, withoutPassword(v.text)))
		}
	}
	c.adminKey = given[adminKeyName].text
	if err := errors.Join(problems...); err != nil {
		return c, usageError{err}
	}
	return c, nil
}

// withoutPassword returns a value as it may be shown: a URL may have a password in it.
func withoutPassword(text string) string {
	if u, err := url.Parse(text); err == nil && u.User != nil {
		return u.Redacted()
	}
	return text
}

// fromEnvironment returns what is set in the environment, by name. An empty variable counts as not set.
func fromEnvironment(environ []string) (map[string]value, []error) {
	given := map[string]value{}
	known := []string{variableName(configName), variableName(adminKeyName), variableName(serverName), variableName(remoteKeyName)}
	for _, s := range settings() {
		known = append(known, variableName(s.name))
	}
	var problems []error
	for _, pair := range environ {
		name, text, _ := strings.Cut(pair, "=")
		switch {
		case !strings.HasPrefix(name, environment) || text == "":
		case !slices.Contains(known, name):
			problems = append(problems, fmt.Errorf("%s: there is no such variable%s", name, didYouMean("", name, known)))
		default:
			given[strings.ToLower(strings.TrimPrefix(name, environment))] = value{text, name}
		}
	}
	return given, problems
}

// configPath returns the path of the configuration file, and whether it must exist.
func configPath(given map[string]value) (path string, must bool) {
	if v, ok := given[configName]; ok {
		return v.text, true
	}
	dir, ok := given["data"]
	if !ok {
		dir.text = defaultData
	}
	return filepath.Join(dir.text, "config.toml"), false
}

// check looks at what settings mean together. It is for the service; other commands do not care.
func (c *config) check() error {
	var problems []error
	if c.adminKey != "" && !auth.ValidChosenKey(c.adminKey) {
		problems = append(problems, fmt.Errorf("%s must be at least 32 printable ASCII characters without a space",
			variableName(adminKeyName)))
	}
	if (c.tlsCert == "") != (c.tlsKey == "") {
		problems = append(problems, errors.New("tls_cert and tls_key go together: give both for HTTPS, or none"))
	}
	if c.tlsCert == "" && !c.allowPlainHTTP && !onlyHere(c.listen) {
		problems = append(problems, fmt.Errorf("listen: other machines can connect to %s, and without TLS anybody on the way "+
			"reads keys and files. Either give tls_cert and tls_key, or, where a proxy in front speaks TLS or everybody on the "+
			"network may know, set allow_plain_http = true (--allow-plain-http, LABSHELF_ALLOW_PLAIN_HTTP=true)", c.listen))
	}
	if err := errors.Join(problems...); err != nil {
		return usageError{err}
	}
	return nil
}

// onlyHere tells whether only this machine can connect to an address. A name is not looked up: what it means may change.
func onlyHere(listen string) bool {
	host, _, _ := net.SplitHostPort(listen)
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// fromFile returns what a configuration file says, by name.
func fromFile(path string, must bool) (map[string]value, error) {
	if _, err := os.Stat(path); err != nil && !must {
		return nil, nil // where it is not to be found for another reason, the data directory is of no use either
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the configuration file cannot be read: %w", err)
	}
	return parseFile(path, text)
}
