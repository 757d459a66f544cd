package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"labshelf/auth"
	"labshelf/cli/exit"
	"labshelf/cli/suggest"
)

// Names of environment variables, the first also of a flag, that are not settings.
const (
	configName   = "config"
	adminKeyName = "admin_key"
	serverName   = "server" // for commands that call a running service
	keyName      = "key"    // for these commands, too
	environment  = "LABSHELF_"
)

// Names of settings that have rules of their own.
const (
	verifyReadsName = "verify_reads"
	metadataName    = "metadata"
)

// AddFlags defines --config and the flags of the listed settings, or of all settings if names is
// empty.
func AddFlags(flags *pflag.FlagSet, names ...string) {
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
		if s.name == verifyReadsName { // the setting was a boolean in earlier versions
			if f := flags.Lookup(flagName(s.name)); f != nil {
				f.NoOptDefVal = "true"
			}
		}
	}
}

func (s setting) isSwitch() bool { return s.fallback == "false" }

// Value is the text given for a setting, and its source.
type Value struct {
	Text string
	From string // for display: a flag, an environment variable, or a line of a file
}

// Load reads the configuration from the flags of AddFlags, the environment (as from os.Environ),
// the file and the defaults, in this order of precedence. It reports all mistakes together, as an
// exit.ErrUsage.
func Load(flags *pflag.FlagSet, environ []string) (c Config, err error) {
	given, problems := fromEnvironment(environ)
	flags.Visit(func(f *pflag.Flag) {
		given[strings.ReplaceAll(f.Name, "-", "_")] = Value{f.Value.String(), "--" + f.Name}
	})
	inFile, err := fromFile(configPath(given))
	problems = append(problems, err)
	for _, s := range settings() {
		v, ok := given[s.name]
		if !ok {
			v, ok = inFile[s.name]
		}
		if !ok {
			v = Value{s.fallback, "default"}
		}
		if err := s.rule(&c, v.Text); err != nil {
			problems = append(problems, fmt.Errorf("%s: %s %w, not %q", v.From, s.name, err, Redact(v.Text)))
		}
	}
	if v := given[metadataName]; strings.HasPrefix(v.From, "--") && Redact(v.Text) != v.Text {
		problems = append(problems, fmt.Errorf("--%s must not contain a password, because other users of the machine can read arguments: "+
			"set %s, or PGPASSWORD", metadataName, variableName(metadataName)))
	}
	c.AdminKey, c.s3Keys = given[adminKeyName].Text, keysFromEnvironment(environ)
	if err := errors.Join(problems...); err != nil {
		return c, exit.Usage(err)
	}
	return c, nil
}

// The parts of a URL that can contain a password.
var (
	userOfWrongURL   = regexp.MustCompile(`://.*@`)
	secretParameters = regexp.MustCompile(`(password=)[^&]*`)
)

// LoadFrom reads the configuration from a file, or from a data directory, which may contain no
// configuration file. It ignores the environment, except for the keys of an S3.
func LoadFrom(path string, environ []string) (Config, error) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	AddFlags(flags, "data")
	if err := flags.Set(SourceFlag(path), path); err != nil {
		return Config{}, err
	}
	keys := slices.DeleteFunc(slices.Clone(environ), func(pair string) bool { return strings.HasPrefix(pair, environment) })
	return Load(flags, keys)
}

// SourceFlag returns the name of the flag that takes the path: data for a folder or a missing path,
// and config for a file.
func SourceFlag(path string) string {
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() || err != nil && filepath.Ext(path) == ".toml" {
		return configName
	}
	return "data"
}

// Redact returns the value of a setting for display: a URL loses its password.
func Redact(text string) string {
	if u, err := url.Parse(text); err == nil && u.User != nil {
		text = u.Redacted()
	} else if err != nil {
		text = userOfWrongURL.ReplaceAllString(text, "://…@")
	}
	return secretParameters.ReplaceAllString(text, "$1…")
}

// fromEnvironment returns the settings in the environment, by name. An empty variable counts as not
// set.
func fromEnvironment(environ []string) (map[string]Value, []error) {
	given := map[string]Value{}
	known := []string{variableName(configName), variableName(adminKeyName), variableName(serverName), variableName(keyName)}
	for _, s := range settings() {
		known = append(known, variableName(s.name))
	}
	var problems []error
	for _, pair := range environ {
		name, text, _ := strings.Cut(pair, "=")
		switch {
		case !strings.HasPrefix(name, environment) || text == "":
		case !slices.Contains(known, name):
			problems = append(problems, fmt.Errorf("%s: unknown variable%s", name, suggest.DidYouMean("", name, known)))
		default:
			given[strings.ToLower(strings.TrimPrefix(name, environment))] = Value{text, name}
		}
	}
	return given, problems
}

// Service returns the address and the key of the running service from the environment. Without an
// address its From is ""; without a key, key is "". Unknown variables with the prefix of labshelf
// are an error.
func Service(environ []string) (address Value, key string, err error) {
	given, problems := fromEnvironment(environ)
	return given[serverName], given[keyName].Text, errors.Join(problems...)
}

// configPath returns the path of the configuration file, and whether it must exist.
func configPath(given map[string]Value) (path string, must bool) {
	if v, ok := given[configName]; ok {
		return v.Text, true
	}
	dir, ok := given["data"]
	if !ok {
		dir.Text = defaultData
	}
	return filepath.Join(dir.Text, "config.toml"), false
}

// Check returns an exit.ErrUsage if settings do not fit together. Commands that run a service call
// it.
func (c *Config) Check() error {
	var problems []error
	if c.AdminKey != "" && !auth.ValidChosenKey(c.AdminKey) {
		problems = append(problems, fmt.Errorf("%s must be at least 32 printable ASCII characters without a space",
			variableName(adminKeyName)))
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		problems = append(problems, errors.New("tls_cert and tls_key go together: give both for HTTPS, or neither"))
	}
	if c.TLSCert == "" && !c.allowPlainHTTP && !Loopback(c.Listen) {
		problems = append(problems, fmt.Errorf("listen: other machines can connect to %s, and without TLS anybody on the way "+
			"reads keys and files. Either give tls_cert and tls_key, or, where a proxy in front speaks TLS or everybody on the "+
			"network may know, set allow_plain_http = true (--allow-plain-http, LABSHELF_ALLOW_PLAIN_HTTP=true)", c.Listen))
	}
	problems = append(problems, c.checkStores()...)
	if err := errors.Join(problems...); err != nil {
		return exit.Usage(err)
	}
	return nil
}

// Loopback reports whether only this machine can connect to a HOST:PORT. The only name that counts
// is localhost: other names may resolve to other addresses later.
func Loopback(listen string) bool {
	host, _, _ := net.SplitHostPort(listen)
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}
