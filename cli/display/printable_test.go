package display

import (
	"encoding/json"
	"strings"
	"testing"
)

const hostile = "a\x1b[31m\u009b2Jb\u202ec\x7f\r"

// TestNoControls: text from a server never controls a terminal, in sentences or in JSON. JSON keeps
// the value.
func TestNoControls(t *testing.T) {
	t.Parallel()
	var text, line strings.Builder
	if _, err := Fprintf(&text, "first %s\nsecond\n", hostile); err != nil {
		t.Fatal(err)
	}
	if err := WriteJSON(&line, map[string]string{"name": hostile + "é😀"}); err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]string{"text": text.String(), "JSON": line.String()} {
		if strings.ContainsAny(got, "\x1b\u009b\u202e\x7f\r") {
			t.Errorf("%s has control characters: %q", what, got)
		}
	}
	if strings.Count(text.String(), "\n") != 2 {
		t.Errorf("lines are lost: %q", text.String())
	}
	var back map[string]string
	if err := json.Unmarshal([]byte(line.String()), &back); err != nil || back["name"] != hostile+"é😀" || !strings.Contains(line.String(), "é😀") {
		t.Errorf("%q is printed as %q: %v", line.String(), back["name"], err)
	}
}
