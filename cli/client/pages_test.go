package client

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestMessagesNameTopics: no message of a command refers to a page that exists only in the source
// tree, because sites without a network have only the executable.
func TestMessagesNameTopics(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"*.go", "topics/*.txt", "../*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		files = append(files, found...)
	}
	page := regexp.MustCompile(`(?m)^[^/\n]*docs/[a-z/-]+\.md`) // except in comments
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(file) == ".go" && regexp.MustCompile(`_test\.go$`).MatchString(file) {
			continue
		}
		if found := page.Find(text); found != nil {
			t.Errorf("%s: %s", file, found)
		}
	}
}
