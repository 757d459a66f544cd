package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const clusterExamples = "../../docs/examples/cluster"

// TestClusterExamples: the configurations in docs/how-to/cluster.md are valid, and equal the
// example files.
func TestClusterExamples(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/how-to/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"config.toml", "compose.toml"} {
		c, err := LoadFrom(filepath.Join(clusterExamples, name), []string{"AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=y"})
		if err == nil {
			err = c.Check()
		}
		if err == nil {
			_, err = c.S3Keys()
		}
		if err != nil || c.Metadata == "" || c.Blobs == "" {
			t.Errorf("%s: %v: metadata %q, blobs %q", name, err, c.Metadata, c.Blobs)
		}
	}
	for name, fence := range map[string]string{"config.toml": "toml", "labshelf.service": "ini"} {
		text, err := os.ReadFile(filepath.Join(clusterExamples, name))
		if err != nil {
			t.Fatal(err)
		}
		_, shown, _ := strings.Cut(string(text), "\n")
		if !strings.HasPrefix(string(text), "#") {
			shown = string(text)
		}
		if !strings.Contains(string(page), "```"+fence+"\n"+shown+"```\n") {
			t.Errorf("docs/how-to/cluster.md does not show the content of %s", name)
		}
	}
}
