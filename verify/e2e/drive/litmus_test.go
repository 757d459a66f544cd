package drive

import (
	"regexp"
	"strings"
	"testing"
)

// TestLitmus tests that all suites of litmus pass without a warning.
func TestLitmus(t *testing.T) {
	t.Parallel()
	need(t, "litmus")
	d := serve(t)
	said := run(t, "", nil, "litmus", "-k", d.url+"/", "anybody", d.Key())
	summaries := regexp.MustCompile(`(\d+) passed, 0 failed`).FindAllString(said, -1)
	if len(summaries) != 5 || strings.Contains(said, "FAIL") || strings.Contains(said, "WARNING") || strings.Contains(said, "SKIPPED") {
		t.Errorf("only %d of 5 suites passed:\n%s", len(summaries), tail(said))
	}
}
