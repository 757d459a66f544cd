package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/pflag"

	commands "labshelf/cli/client"
	"labshelf/cli/config"
	"labshelf/cli/datadir"
	"labshelf/cli/exit"
	"labshelf/cli/logins"
	"labshelf/client"
)

// The flags that select a service, and their default.
const (
	serverFlag    = "server"
	keyFileFlag   = "key-file"
	defaultServer = "http://127.0.0.1:8080/v1"
)

// maxKeyFile is the greatest size of a file with a key, in bytes.
const maxKeyFile = 4 << 10

// place is where a command works: in a data directory whose service is stopped, or on a service,
// through its interface.
type place struct {
	data   string         // path, or "" where remote is set
	stores datadir.Stores // of it
	remote *client.Client // with the key of a sysadmin
}

// placeHelp is what commands with a place say about it.
const placeHelp = `With --data DIR it works on a data directory whose service is stopped. Without,
it asks the running service, as a sysadmin: the one that "labshelf login" has
a key for, or that at --server (LABSHELF_SERVER) with the key from LABSHELF_KEY
or --key-file. A key is never an argument, since other users of the machine can
read those.`

// addPlaceFlags defines --data, --server and --key-file.
func addPlaceFlags(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.String("data", "", "`DIR`, the data directory; the service must be stopped")
	addRemoteFlags(flags)
}

// addRemoteFlags defines --server and --key-file.
func addRemoteFlags(flags *pflag.FlagSet) {
	flags.String(serverFlag, "", fmt.Sprintf("base `URL` of the running service (default: LABSHELF_SERVER, else the one signed in to last, else %s)", defaultServer))
	flags.String(keyFileFlag, "", "`FILE` with the key, readable for its owner alone (default: LABSHELF_KEY, else the key of the login)")
}

// placeOf reads the flags of addPlaceFlags. Which data directory the environment names does not
// count: it is that of the service, and commands without --data are for one that is running.
func placeOf(flags *pflag.FlagSet, p process) (place, error) {
	data, err := flags.GetString("data")
	if err != nil {
		return place{}, err
	}
	if !flags.Changed("data") {
		remote, err := remoteOf(flags, p.environ, false, p.stderr)
		return place{remote: remote}, err
	}
	if flags.Changed(serverFlag) || flags.Changed(keyFileFlag) {
		return place{}, exit.Usage(errors.New("--data is for a service that is stopped, --server and --key-file for one that is running: give one or the other"))
	}
	if data == "" {
		return place{}, exit.Usage(errors.New("--data must name a directory"))
	}
	if _, _, err := config.Service(p.environ); err != nil {
		return place{}, exit.Usage(err)
	}
	at, err := storesIn(data, p.environ)
	return place{data: data, stores: at}, err
}

// storesIn returns where the stores of a data directory are, as its service has them configured.
func storesIn(data string, environ []string) (datadir.Stores, error) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	config.AddFlags(flags, "data")
	err := flags.Set("data", data)
	var c config.Config
	if err == nil {
		c, err = config.Load(flags, environ)
	}
	if err != nil {
		return datadir.Stores{}, err
	}
	return storesOf(c)
}

// remoteOf reads the flags of addRemoteFlags and returns a client of that service. Without a key it
// refuses, unless open is set.
func remoteOf(flags *pflag.FlagSet, environ []string, open bool, warn io.Writer) (*client.Client, error) {
	address, key, err := config.Service(environ)
	problems := []error{err}
	keyInFile := flags.Changed(keyFileFlag)
	if path, err := flags.GetString(keyFileFlag); err == nil && keyInFile {
		key, err = readKey(path)
		problems = append(problems, err)
	}
	if text, err := flags.GetString(serverFlag); err == nil && flags.Changed(serverFlag) {
		address = config.Value{Text: text, From: "--" + serverFlag}
	}
	var stored logins.Logins
	if key == "" && !keyInFile || address.From == "" {
		var err error
		stored, err = logins.Stored()
		problems = append(problems, err)
	}
	if address.From == "" {
		address = config.Value{Text: defaultServer, From: "default"}
		if stored.Current != "" {
			address = config.Value{Text: stored.Current, From: "login"}
		}
	}
	base, err := serviceURL(address.Text)
	if err != nil {
		problems = append(problems, fmt.Errorf("%s: the server %w, not %q", address.From, err, config.Redact(address.Text)))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, exit.Usage(err)
	}
	if key == "" {
		key = stored.Services[base].Key
	}
	if key == "" && !open {
		return nil, exit.Usage(fmt.Errorf("no key for %s: sign in with \"labshelf login %s\", set LABSHELF_KEY or give --%s FILE",
			base, base, keyFileFlag))
	}
	warnUnencrypted(warn, base, key, address.From)
	return client.New(base, key), nil
}

// warnUnencrypted says that a key travels where others can read it. A login has said so when it was
// stored.
func warnUnencrypted(warn io.Writer, base, key, from string) {
	if host := commands.Unencrypted(base); key != "" && from != "login" && host != "" {
		_, _ = fmt.Fprintf(warn, "%s: warning: the key goes to %s without encryption; use https\n", program, host)
	}
}

// serviceURL returns the base URL of a service of which any address is given: that of the pages or
// of the interface, with or without /v1 and a slash, or that of a record or of another page.
func serviceURL(text string) (string, error) {
	text = strings.TrimSpace(text)
	if at, ok := commands.ServiceOf(text); ok {
		text = at
	}
	text = strings.TrimRight(text, "/")
	base, err := config.BaseURL(text)
	if err != nil {
		base, err = config.BaseURL(text + "/v1")
	}
	if err != nil || base == nil {
		return "", errors.New("must be an absolute http or https URL, such as https://data.example.org")
	}
	return base.String(), nil
}

// readKey returns the key in a file that only its owner can read. (Windows keeps no such
// permissions.)
func readKey(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("--%s: there is no file %s", keyFileFlag, path)
	case err != nil:
		return "", fmt.Errorf("--%s: %w", keyFileFlag, err)
	case info.IsDir():
		return "", fmt.Errorf("--%s: %s is a folder, and not the file with the key", keyFileFlag, path)
	case !info.Mode().IsRegular() || info.Size() > maxKeyFile:
		return "", fmt.Errorf("--%s: %s has no key in it", keyFileFlag, path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("--%s: others can read %s (mode %04o); make it yours alone with: chmod 600 %s",
			keyFileFlag, path, info.Mode().Perm(), path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("--%s: %w", keyFileFlag, err)
	}
	key := strings.TrimSpace(string(text))
	if key == "" || strings.ContainsAny(key, " \t\r\n") {
		return "", fmt.Errorf("--%s: %s must contain a key and nothing else", keyFileFlag, path)
	}
	return key, nil
}
