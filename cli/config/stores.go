package config

import (
	"bufio"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"
)

// storeSettings are the settings for the places of metadata and files.
func storeSettings() []setting {
	return []setting{
		{metadataName, "", "`URL` of a PostgreSQL database for the metadata, such as postgres://labshelf@db.example.org/labshelf (default: a file in the data directory)",
			into(metadataURL, func(c *Config) *string { return &c.Metadata })},
		{"blobs", "", "`URL` of an S3 bucket and prefix for the files, such as s3://bucket/labshelf (default: folders in the data directory)",
			into(bucketURL, func(c *Config) *string { return &c.Blobs })},
		{"s3_endpoint", "", "`URL` of the S3 with the bucket (default: Amazon's)",
			into(endpointURL, func(c *Config) *string { return &c.S3Endpoint })},
		{"s3_region", "us-east-1", "`NAME` of the region of that S3",
			into(nonEmpty, func(c *Config) *string { return &c.S3Region })},
		{"s3_keys", "", "`FILE` with the keys of that S3 (default: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the environment)",
			into(anyText, func(c *Config) *string { return &c.s3KeyFile })},
		{"redirect_downloads", "false", "redirect clients that download a file to an S3 address that is valid for a minute, instead of passing the bytes on",
			into(boolean, func(c *Config) *bool { return &c.RedirectDownloads })},
		{"node", "", "`NAME` of this node, shown in the status (default: the host name)",
			into(anyText, func(c *Config) *string { return &c.Node })},
	}
}

func metadataURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || strings.Trim(u.Path, "/") == "" || u.Fragment != "" {
		return "", errors.New("must be a URL such as postgres://labshelf@db.example.org/labshelf, or empty for a file in the data directory")
	}
	return text, nil
}

var bucketName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`) })

func bucketURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "s3" || !bucketName().MatchString(u.Host) || u.User != nil || u.RawQuery != "" || strings.Contains(text, "#") {
		return "", errors.New("must be a URL such as s3://bucket/labshelf, or empty for folders in the data directory")
	}
	return text, nil
}

func endpointURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := absoluteURL(text)
	if err != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return "", errors.New("must be an http or https URL without a path, such as https://s3.example.org, or empty for Amazon")
	}
	return strings.TrimSuffix(text, "/"), nil
}

// Keys are the credentials for an S3.
type Keys struct{ ID, Secret, Token string }

// String hides the keys.
func (Keys) String() string { return "(keys)" }

// The environment variables of the keys. In a file the names are in lower case. Other S3 clients
// read the same names.
const (
	keyIDName     = "AWS_ACCESS_KEY_ID"
	secretKeyName = "AWS_SECRET_ACCESS_KEY"
	tokenName     = "AWS_SESSION_TOKEN"
)

// fields returns pointers to the keys, by variable name.
func (k *Keys) fields() map[string]*string {
	return map[string]*string{keyIDName: &k.ID, secretKeyName: &k.Secret, tokenName: &k.Token}
}

// keysFromEnvironment reads the keys from the environment. A key without a variable is "".
func keysFromEnvironment(environ []string) (keys Keys) {
	fields := keys.fields()
	for _, pair := range environ {
		name, text, _ := strings.Cut(pair, "=")
		if field := fields[name]; field != nil {
			*field = text
		}
	}
	return keys
}

// S3Keys returns the keys of the S3 from the file that s3_keys names, otherwise from the
// environment.
func (c *Config) S3Keys() (keys Keys, err error) {
	keys = c.s3Keys
	from := "the environment (" + keyIDName + ", " + secretKeyName + ")"
	if c.s3KeyFile != "" {
		if keys, err = keysFromFile(c.s3KeyFile); err != nil {
			return keys, fmt.Errorf("s3_keys: %w", err)
		}
		from = c.s3KeyFile
	}
	if keys.ID == "" || keys.Secret == "" {
		return keys, fmt.Errorf("blobs: %s has no keys for %s; name a file that has them with s3_keys", from, c.Blobs)
	}
	return keys, nil
}

// keysFromFile reads lines such as aws_access_key_id = KEY, and skips others, such as the name of a
// profile. Only the owner may have read permission for the file. Windows has no such permissions.
func keysFromFile(path string) (keys Keys, err error) {
	file, err := os.Open(path)
	if err != nil {
		return keys, err
	}
	defer func() { _ = file.Close() }() // only reads, so nothing is lost
	info, err := file.Stat()
	if err != nil {
		return keys, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return keys, fmt.Errorf("others can read %s (mode %04o); make it private with: chmod 600 %s", path, info.Mode().Perm(), path)
	}
	fields, lines := keys.fields(), bufio.NewScanner(file)
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), "=")
		if field := fields[strings.ToUpper(strings.TrimSpace(name))]; field != nil {
			*field = strings.TrimSpace(text)
		}
	}
	return keys, lines.Err()
}

// checkStores returns an error for each pair of store settings that do not fit together.
func (c *Config) checkStores() (problems []error) {
	if c.Blobs == "" && (c.S3Endpoint != "" || c.s3KeyFile != "") {
		problems = append(problems, errors.New("s3_endpoint and s3_keys require an S3 bucket in blobs, which is not set: set blobs, such as s3://bucket/labshelf, or remove them"))
	}
	if c.Blobs == "" && c.RedirectDownloads {
		problems = append(problems, errors.New("redirect_downloads requires an S3 bucket in blobs, which is not set: set blobs, such as s3://bucket/labshelf, or remove it"))
	}
	return problems
}
