package audit_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"labshelf/formats/audit"
)

// TestDocumented tests that the description of the format, and its example, contain every action
// and the frozen leaf.
func TestDocumented(t *testing.T) {
	t.Parallel()
	page, program := text(t, "../../docs/reference/audit-format.md"), " "+strings.Join(strings.Fields(text(t, "../../docs/examples/verify_audit.py")), " ")
	for a := range audit.Action(255) {
		word := a.String()
		if word == "" {
			continue
		}
		if row := fmt.Sprintf("| %d | `%s` |", a, word); !strings.Contains(page, row) {
			t.Errorf("docs/reference/audit-format.md lacks %s", row)
		}
		if pair := fmt.Sprintf("%d %s", a, word); !strings.Contains(strings.ReplaceAll(program, `"`, " "), " "+pair+" ") {
			t.Errorf("verify_audit.py lacks %s", pair)
		}
	}
	if !strings.Contains(page, "```"+frozenLeaf+"\n```") {
		t.Error("the example leaf in docs/reference/audit-format.md differs")
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	bytes, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes)
}

// TestPrinted tests that the program for auditors prints each field of an entry under its name.
func TestPrinted(t *testing.T) {
	t.Parallel()
	needs(t)
	l := newLog(t)
	e := audit.Entry{
		Action: audit.ResourceReplace, User: [16]byte{1}, Key: [16]byte{2}, Session: [8]byte{3}, Request: [16]byte{4}, Object: audit.Object{Kind: audit.Resource, ID: [16]byte{5}},
		Dataspace: [16]byte{6}, Set: [16]byte{7}, Subject: [16]byte{8}, Digest: [32]byte{9}, Before: [32]byte{10}, Bytes: 4096, Version: 2, Values: `{"a":"1"}`,
	}
	l.changes(3)
	e.Previous, e.Cause = 2, 1
	l.add(e, `{"name":"ä.csv"}`, "::1")
	path := filepath.Join(t.TempDir(), "export")
	if err := os.WriteFile(path, []byte(l.export()), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", "../../docs/examples/verify_audit.py", "--print", path)
	cmd.Env = append(os.Environ(), "PYTHONIOENCODING=utf-8")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(strings.Split(string(out), "\n")[3]), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	id := func(first, length int) string { return fmt.Sprintf("%02x", first) + strings.Repeat("00", length-1) }
	for name, want := range map[string]any{
		"number": 3.0, "stamp": 3.0, "action": "resource.replace", "user": id(1, 16), "key": id(2, 16), "session": id(3, 8), "request": id(4, 16), "cause": 1.0,
		"kind": 3.0, "object": id(5, 16), "dataspace": id(6, 16), "set": id(7, 16), "subject": id(8, 16), "previous": 2.0, "digest": id(9, 32), "before": id(10, 32),
		"bytes": 4096.0, "version": 2.0, "values": `{"a":"1"}`, "texts": `{"name":"ä.csv"}`, "address": "::1",
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if len(got) != 21 {
		t.Errorf("%d fields: %v", len(got), got)
	}
}
