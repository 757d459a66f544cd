package display

import (
	"strings"
	"testing"
)

// TestWholeColumns: on a narrow terminal, ids keep their length and the other columns shrink.
func TestWholeColumns(t *testing.T) {
	t.Parallel()
	const id = "01M8FFVVABMR5DWKERJNFQ038M"
	table := Table{Head: []string{"ID", "LABEL", "TARGET"}, Whole: []bool{true, false, false}}
	table.Add(id, strings.Repeat("label ", 10), strings.Repeat("target/", 10))
	var out strings.Builder
	if err := table.Write(&out, 80); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if len([]rune(strings.TrimSuffix(line, "\n"))) > 80 {
			t.Errorf("a line is wider than 80 columns: %q", line)
		}
	}
	if text := out.String(); !strings.Contains(text, id) || strings.Count(text, "…") != 2 {
		t.Errorf("got\n%s", text)
	}
}
