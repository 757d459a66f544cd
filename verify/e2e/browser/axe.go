package browser

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
)

// Axe returns the script of axe-core, which checks accessibility.
func Axe(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "web", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("axe-core is not installed: %v", err)
		}
		t.Skipf("axe-core is not installed (npm ci in web/): %v", err)
	}
	return string(script)
}

// Finding is a violation that axe-core reports.
type Finding struct{ Impact, ID, Help, Where string }

// Audit runs all rules of axe-core on the page and returns serious findings, or all findings of the
// given rules.
func (v *Visitor) Audit(script string, rules ...string) []Finding {
	v.T.Helper()
	v.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.Evaluate[bool]("!!window.axe||(()=>{"+script+"})()||true")(ctx, t)
		return err
	}))
	options := `{resultTypes: ["violations"]}` // only count other results
	if len(rules) > 0 {
		text, _ := json.Marshal(rules)
		options = `{resultTypes: ["violations"], runOnly: ` + string(text) + `}`
	}
	return Get(v, chromedp.Evaluate[[]Finding](`axe.run(document, `+options+`).then((found) => found.violations
		.filter((f) => `+strconv.FormatBool(len(rules) > 0)+` || f.impact === "serious" || f.impact === "critical")
		.flatMap((f) => f.nodes.map((n) => ({Impact: f.impact, ID: f.id, Help: f.help, Where: n.html.slice(0, 200)}))))`,
		chromedp.EvalAwaitPromise))
}
