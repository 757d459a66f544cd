package config

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"labshelf/cli/exit"
)

// TestSecretsAreNotShown: neither errors nor printed values contain the password of a database or
// the keys of an S3 store.
func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	empty := tempFile(t, "empty.toml", "")
	for name, tt := range map[string]struct {
		args    []string
		environ string
	}{
		"a flag":           {[]string{"--metadata", "postgres://labshelf:" + secret + "@db/labshelf"}, ""},
		"another engine":   {nil, "LABSHELF_METADATA=mysql://labshelf:" + secret + "@db/labshelf"},
		"no URL":           {nil, "LABSHELF_METADATA=postgres://labshelf:" + secret + "%zz@db/labshelf"},
		"an odd password":  {nil, "LABSHELF_METADATA=postgres://labshelf:a/b@" + secret + "[@db/labshelf"},
		"a flag with it":   {[]string{"--metadata", "postgres://db/labshelf?password=" + secret}, ""},
		"a parameter":      {nil, "LABSHELF_METADATA=postgres://db/?user=labshelf&password=" + secret},
		"keys in blobs":    {nil, "LABSHELF_BLOBS=s3://key:" + secret + "@bucket/a"},
		"keys in endpoint": {nil, "LABSHELF_S3_ENDPOINT=https://key:" + secret + "@s3.example.org"},
	} {
		_, err := loadWith(t, append([]string{"--config", empty}, tt.args...), tt.environ)
		if !errors.Is(err, exit.ErrUsage) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if text := fmt.Sprintf("%v %+v %s", Keys{secret, secret, secret}, struct{ Keys Keys }{Keys{Secret: secret}}, Keys{Secret: secret}); strings.Contains(text, secret) {
		t.Errorf("keys are printed: %s", text)
	}
}

// TestS3Keys: the keys come from the file or from the environment. Missing keys, and a file that
// others can read, are errors.
func TestS3Keys(t *testing.T) {
	t.Parallel()
	full := tempFile(t, "s3.keys", "[default]\naws_access_key_id = file\nAWS_SECRET_ACCESS_KEY=of=file\n# a line\n")
	open := tempFile(t, "open.keys", "aws_access_key_id = file\naws_secret_access_key = of file\n")
	if err := os.Chmod(open, 0o640); err != nil {
		t.Fatal(err)
	}
	environment := []string{"AWS_ACCESS_KEY_ID=variable", "AWS_SECRET_ACCESS_KEY=of variable", "AWS_SESSION_TOKEN=token"}
	for name, tt := range map[string]struct {
		args, environ []string
		want          Keys
		wrong         string
	}{
		"environment":          {nil, environment, Keys{"variable", "of variable", "token"}, ""},
		"file":                 {[]string{"--s3-keys", full}, environment, Keys{"file", "of=file", ""}, ""},
		"none":                 {nil, nil, Keys{}, "s3://bucket/a"},
		"half":                 {nil, environment[:1], Keys{}, "AWS_SECRET_ACCESS_KEY"},
		"no file":              {[]string{"--s3-keys", full + "x"}, environment, Keys{}, full + "x"},
		"a file without":       {[]string{"--s3-keys", tempFile(t, "empty.keys", "")}, environment, Keys{}, "empty.keys"},
		"a file of all people": {[]string{"--s3-keys", open}, nil, Keys{}, "chmod 600"},
	} {
		if runtime.GOOS == "windows" && strings.HasSuffix(name, "people") {
			continue
		}
		c, err := loadWith(t, append([]string{"--config", tempFile(t, "empty.toml", ""), "--blobs", "s3://bucket/a"}, tt.args...), tt.environ...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.S3Keys()
		switch {
		case tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)):
			t.Errorf("%s: %v", name, err)
		case tt.wrong == "" && (err != nil || got != tt.want):
			t.Errorf("%s: %q %q %q, %v", name, got.ID, got.Secret, got.Token, err)
		}
	}
}

// TestStoresFitTogether: settings of an S3 store are rejected if no S3 store is configured.
func TestStoresFitTogether(t *testing.T) {
	t.Parallel()
	for args, wrong := range map[string]string{
		"--s3-endpoint=https://s3.example.org": "s3_endpoint",
		"--s3-keys=s3.keys":                    "s3_keys",
		"--redirect-downloads":                 "redirect_downloads",
		"--redirect-downloads --blobs=s3://bucket/a --s3-endpoint=https://s3.example.org --s3-keys=s3.keys": "",
		"--metadata=postgres://db/labshelf": "",
	} {
		c, err := loadWith(t, append([]string{"--config", tempFile(t, "empty.toml", "")}, strings.Fields(args)...))
		if err != nil {
			t.Fatal(err)
		}
		err = c.Check()
		if wrong == "" && err != nil || wrong != "" && (!errors.Is(err, exit.ErrUsage) || !strings.Contains(err.Error(), wrong)) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
