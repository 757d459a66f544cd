package client

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestMessagesNameTopics expects that no text of a command names a page that only the source tree
// has: a site without a network has the executable alone.
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
	page := regexp.MustCompile(`(?m)^[^/\n]*docs/[a-z/-]+\.md`) // not in a comment
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
