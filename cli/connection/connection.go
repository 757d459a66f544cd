// Package connection selects the service that a command uses, and its key: by flags, the
// environment, or the login.
package connection

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/pflag"

	"labshelf/cli/client/reference"
	"labshelf/cli/config"
	"labshelf/cli/exit"
	"labshelf/cli/logins"
	"labshelf/cli/process"
	"labshelf/client"
)

// The flags that select a service, and the default address.
const (
	ServerFlag    = "server"
	KeyFileFlag   = "key-file"
	DefaultServer = "http://127.0.0.1:8080/v1"
)

// MaxKeyFile is the greatest size of a key file, in bytes.
const MaxKeyFile = 4 << 10

// AddFlags defines --server and --key-file.
func AddFlags(flags *pflag.FlagSet) {
	flags.String(ServerFlag, "", fmt.Sprintf("base `URL` of the running service (default: LABSHELF_SERVER, otherwise the latest login, otherwise %s)", DefaultServer))
	flags.String(KeyFileFlag, "", "`FILE` with the key, readable only for its owner (default: LABSHELF_KEY, otherwise the key of the login)")
}

// Open reads the flags of AddFlags and returns a client of that service. Without a key it returns
// an error, unless open is set. The caller closes the client.
func Open(flags *pflag.FlagSet, p process.Process, open bool) (*client.Client, error) {
	address, key, err := config.Service(p.Environ)
	problems := []error{err}
	keyInFile := flags.Changed(KeyFileFlag)
	if path, err := flags.GetString(KeyFileFlag); err == nil && keyInFile {
		key, err = readKey(path)
		problems = append(problems, err)
	}
	if text, err := flags.GetString(ServerFlag); err == nil && flags.Changed(ServerFlag) {
		address = config.Value{Text: text, From: "--" + ServerFlag}
	}
	var stored logins.Logins
	if key == "" && !keyInFile || address.From == "" {
		var err error
		stored, err = logins.Stored()
		problems = append(problems, err)
	}
	if address.From == "" {
		address = config.Value{Text: DefaultServer, From: "default"}
		if stored.Current != "" {
			address = config.Value{Text: stored.Current, From: "login"}
		}
	}
	base, err := BaseURL(address.Text)
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
			base, base, KeyFileFlag))
	}
	warnUnencrypted(p.Err, base, key, address.From)
	return client.New(base, key), nil
}

// warnUnencrypted warns that the key is sent without encryption. It does not repeat the warning of
// a login, which was given when the login was stored.
func warnUnencrypted(warn io.Writer, base, key, from string) {
	if host := Unencrypted(base); key != "" && from != "login" && host != "" {
		_, _ = fmt.Fprintf(warn, "%s: warning: the key goes to %s without encryption; use https\n", process.Program, host)
	}
}

// BaseURL returns the base URL of the service for an address of its pages or its interface,
// including the address of a record or another page. /v1 and a final slash are optional. The error
// states the rule.
func BaseURL(text string) (string, error) {
	text = strings.TrimSpace(text)
	if at, ok := reference.ServiceOf(text); ok {
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

// Unencrypted returns the host of an address that is remote and not encrypted, otherwise "".
func Unencrypted(address string) (host string) {
	at, err := url.Parse(address)
	if err != nil || at.Scheme != "http" || strings.EqualFold(at.Hostname(), "localhost") {
		return ""
	}
	if number, err := netip.ParseAddr(at.Hostname()); err == nil && number.Unmap().IsLoopback() {
		return ""
	}
	return at.Host
}

// readKey returns the key in a file that only its owner can read. Windows has no such permissions.
func readKey(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("--%s: there is no file %s", KeyFileFlag, path)
	case err != nil:
		return "", fmt.Errorf("--%s: %w", KeyFileFlag, err)
	case info.IsDir():
		return "", fmt.Errorf("--%s: %s is a folder, not a file with the key", KeyFileFlag, path)
	case !info.Mode().IsRegular() || info.Size() > MaxKeyFile:
		return "", fmt.Errorf("--%s: %s contains no key", KeyFileFlag, path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("--%s: others can read %s (mode %04o); make it private with: chmod 600 %s",
			KeyFileFlag, path, info.Mode().Perm(), path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("--%s: %w", KeyFileFlag, err)
	}
	key := strings.TrimSpace(string(text))
	if key == "" || strings.ContainsAny(key, " \t\r\n") {
		return "", fmt.Errorf("--%s: %s must contain only a key", KeyFileFlag, path)
	}
	return key, nil
}
