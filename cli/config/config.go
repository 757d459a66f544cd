// Package config is the configuration of the service: a table of settings, and their values from
// flags, environment variables and the configuration file.
package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"labshelf/repository/webhooks"
)

const defaultData = "./data"

// Config holds the settings of the operator. Each field has a row in settings, except AdminKey and
// the keys of an S3. These come from the environment, since other users of the machine can read
// arguments. The keys of an S3 can also come from their own file.
type Config struct {
	Data, Listen          string
	Metadata              string // URL of a database, with its password; "": a file in Data
	Blobs                 string // URL of a bucket and prefix in an S3; "": folders in Data
	S3Endpoint, S3Region  string // URL, "": Amazon's
	s3KeyFile             string
	s3Keys                Keys // from the environment
	RedirectDownloads     bool
	Node                  string   // "": the host name
	BaseURL               *url.URL // nil: taken from each request
	allowPlainHTTP        bool
	TLSCert, TLSKey       string
	TrustedProxies        []netip.Prefix
	AllowedHosts          []string
	AllowedOrigins        []string
	WebhookHosts          webhooks.Hosts
	FailedKeys            int // in a minute; 0: no limit
	Anonymous             bool
	AnonymousRequests     int // in a minute; 0: no limit
	SessionAge, UploadAge time.Duration
	LinkLifetime          time.Duration // 0: links may be permanent
	ViewDataURL           string
	MaxUpload             int64 // bytes; 0: no limit
	DataspaceQuota        int64 // bytes; 0: no quota
	UserQuota             int64 // bytes; 0: no quota
	HoldUpTo              int64 // bytes; 0: every body is written to a file immediately
	PageSize              int
	DirectoryPageSize     int
	UsersCreateDataspaces bool
	AdminsInvite          bool
	VerifyReads           int64 // bytes of the longest complete download that is verified; 0: never
	Stall, Shutdown       time.Duration
	MinRate               int64         // bytes per second; 0: any byte counts as progress
	ScrubPeriod           time.Duration // 0: never
	TrashGrace            time.Duration
	LogLevel              zerolog.Level
	LogFormat             string
	SlowRequest           time.Duration // 0: no request counts as slow
	Metrics               string        // an address, Off or Sysadmin
	Pprof                 string        // an address, or Off

	AdminKey string // "": make a new key
}

// Values of Metrics and Pprof other than an address.
const (
	Off      = "off"
	Sysadmin = "sysadmin" // only for Metrics: served at the address of the API, with the key of a sysadmin
)

// setting is one key of the configuration. The file uses its name; the environment uses LABSHELF_
// and the name in upper case; the flag uses - for _. All three hold a string; a list is joined by
// commas.
type setting struct {
	name     string
	fallback string // default value
	help     string // help of the flag; the word in backquotes stands for the value
	rule     func(c *Config, text string) error
}

func flagName(name string) string { return strings.ReplaceAll(name, "_", "-") }

func variableName(name string) string { return environment + strings.ToUpper(name) }

// settings returns all settings.
func settings() []setting {
	return slices.Concat(serviceSettings(), storeSettings(), accessSettings(), quotaSettings(), observationSettings())
}

// quotaSettings are the settings for quotas of new objects.
func quotaSettings() []setting {
	return []setting{
		{"dataspace_quota", "0", "quota of a new dataspace, a `SIZE` of all versions of its files; 0 is no limit",
			into(size, func(c *Config) *int64 { return &c.DataspaceQuota })},
		{"user_quota", "0", "quota of a new user, a `SIZE` of all versions that the user stores; 0 is no limit",
			into(size, func(c *Config) *int64 { return &c.UserQuota })},
	}
}

// accessSettings are the settings for access and permissions.
func accessSettings() []setting {
	return []setting{
		{"failed_keys_per_minute", "100", "`NUMBER` of requests with unknown keys that an address may send in a minute; 0 is no limit",
			into(count, func(c *Config) *int { return &c.FailedKeys })},
		{"anonymous", Off, "`off`, or on: open dataspaces can be read without a key",
			into(onOrOff, func(c *Config) *bool { return &c.Anonymous })},
		{"anonymous_per_minute", "1000", "`NUMBER` of requests without a key that an address may send in a minute; 0 is no limit",
			into(count, func(c *Config) *int { return &c.AnonymousRequests })},
		{"link_lifetime", "0", "maximum `TIME` for which a link for people without an account is valid; 0 is no limit",
			into(period, func(c *Config) *time.Duration { return &c.LinkLifetime })},
		{"invitations", "sysadmins", "`USERS` who can invite people: sysadmins, or admins (also the admins of a dataspace, to their dataspace)",
			into(sysadminsOrAdmins, func(c *Config) *bool { return &c.AdminsInvite })},
		{"session_age", "30d", "`TIME` after which a browser must sign in again",
			into(duration, func(c *Config) *time.Duration { return &c.SessionAge })},
		{"dataspaces_by", "sysadmin", "`USERS` who can create dataspaces: sysadmin or users",
			into(sysadminOrUsers, func(c *Config) *bool { return &c.UsersCreateDataspaces })},
	}
}

// serviceSettings are the settings for the behavior of the service.
func serviceSettings() []setting {
	return []setting{
		{"data", defaultData, "`DIR` of the data of the service",
			into(nonEmpty, func(c *Config) *string { return &c.Data })},
		{"listen", "127.0.0.1:8080", "`HOST:PORT` to listen on; port 0 selects any free port",
			into(hostPort, func(c *Config) *string { return &c.Listen })},
		{"base_url", "", "`URL` under which clients reach the service, ending with /v1 (default: taken from each request)",
			into(BaseURL, func(c *Config) **url.URL { return &c.BaseURL })},
		{"allow_plain_http", "false", "allow plain HTTP at an address that other machines can reach",
			into(boolean, func(c *Config) *bool { return &c.allowPlainHTTP })},
		{"tls_cert", "", "`FILE` with the certificate chain, in PEM; with tls_key: serve HTTPS",
			into(anyText, func(c *Config) *string { return &c.TLSCert })},
		{"tls_key", "", "`FILE` with the private key of tls_cert, in PEM",
			into(anyText, func(c *Config) *string { return &c.TLSKey })},
		{"trusted_proxies", "", "`ADDRESSES` or prefixes of proxies whose X-Forwarded-* headers are used, such as 10.0.0.0/8",
			into(prefixes, func(c *Config) *[]netip.Prefix { return &c.TrustedProxies })},
		{"allowed_hosts", "", "`NAMES` or addresses that clients use, in addition to localhost, the listen address and the host of base_url",
			into(hosts, func(c *Config) *[]string { return &c.AllowedHosts })},
		{"allowed_origins", "", "`ORIGINS` of web pages whose scripts may use the service, such as https://app.example.org",
			into(origins, func(c *Config) *[]string { return &c.AllowedOrigins })},
		{"webhook_hosts", "", "`HOSTS` to which webhooks may send messages, such as hooks.example.org, *.example.org or 10.0.0.0/8 (default: none)",
			into(webhookHosts, func(c *Config) *webhooks.Hosts { return &c.WebhookHosts })},
		{"view_data_url", "", "`TEMPLATE` of viewDataUrl, a URL with {id} and optionally {setId} and {dataspaceId} (default: a page of this service)",
			into(viewTemplate, func(c *Config) *string { return &c.ViewDataURL })},
		{"max_upload", "0", "maximum `SIZE` of a file, in bytes or as 10GB or 10GiB; 0 is no limit",
			into(size, func(c *Config) *int64 { return &c.MaxUpload })},
		{"upload_age", "7d", "`TIME` for which a resumable upload may pause before it is removed",
			into(duration, func(c *Config) *time.Duration { return &c.UploadAge })},
		{"hold_up_to", "128KiB", "maximum `SIZE` of a body that is stored inline (committed with its record, and flushed to a file later), up to 1MiB; 0: no inline bodies",
			into(inlineSize, func(c *Config) *int64 { return &c.HoldUpTo })},
		{"page_size", "100", "`NUMBER` of objects on a page of sets, resources or keys",
			into(pageSize, func(c *Config) *int { return &c.PageSize })},
		{"directory_page_size", "1000", "`NUMBER` of objects on a page of dataspaces, users or privileges",
			into(pageSize, func(c *Config) *int { return &c.DirectoryPageSize })},
		{verifyReadsName, "64MiB", "maximum `SIZE` of a file whose SHA-256 is compared in a download of the whole file; true: all files, false or 0: none",
			into(verifiedSize, func(c *Config) *int64 { return &c.VerifyReads })},
		{"scrub_period", "30d", "`TIME` in which the background verification reads every file once, to find damage; 0 turns it off",
			into(period, func(c *Config) *time.Duration { return &c.ScrubPeriod })},
		{"trash_grace", "14d", "`TIME` for which purged files stay in the trash",
			into(period, func(c *Config) *time.Duration { return &c.TrashGrace })},
		{"stall_timeout", "30s", "`TIME` for which a client may stall without sending or receiving a byte",
			into(duration, func(c *Config) *time.Duration { return &c.Stall })},
		{"min_rate", "1KiB", "`SIZE` that a client must send or receive per second to restore its stall_timeout; 0: any byte is enough",
			into(size, func(c *Config) *int64 { return &c.MinRate })},
		{"shutdown_timeout", "30s", "`TIME` for which running requests may continue when the service stops",
			into(duration, func(c *Config) *time.Duration { return &c.Shutdown })},
	}
}

// observationSettings are the settings for logs, metrics and profiles.
func observationSettings() []setting {
	return []setting{
		{"log_level", "info", "lowest `LEVEL` that is logged: debug, info, warn or error",
			into(logLevel, func(c *Config) *zerolog.Level { return &c.LogLevel })},
		{"log_format", "auto", "`FORMAT` of the log: json, console, or auto (console on a terminal, otherwise json)",
			into(oneOf("auto", "json", "console"), func(c *Config) *string { return &c.LogFormat })},
		{"slow_request", "2s", "`TIME` that the service may take for a request, plus 1s for each 32 MiB, before the request is logged as slow; 0 turns this off",
			into(period, func(c *Config) *time.Duration { return &c.SlowRequest })},
		{"metrics", Off, "`WHERE` metrics are served, at /metrics: off, sysadmin (with a key), or a separate HOST:PORT",
			into(adminAddress(Off, Sysadmin), func(c *Config) *string { return &c.Metrics })},
		{"pprof", Off, "`WHERE` profiles are served, at /debug/pprof/: off, or a separate HOST:PORT",
			into(adminAddress(Off), func(c *Config) *string { return &c.Pprof })},
	}
}

// into returns a function that parses a value and stores it in a field.
func into[T any](parse func(string) (T, error), field func(*Config) *T) func(*Config, string) error {
	return func(c *Config, text string) error {
		v, err := parse(text)
		*field(c) = v
		return err
	}
}
