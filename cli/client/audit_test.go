package client

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"labshelf/cli/client/auditlog"
	"labshelf/cli/exit"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// auditExport is a parsed export of a real log.
type auditExport struct {
	header  audit.ExportHeader
	origin  audit.Origin
	entries []audit.ExportEntry
}

func parseExport(t *testing.T, text string) (x auditExport) {
	t.Helper()
	reader, header, err := audit.OpenExport(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	head, err := audit.ParseHead(header.Head, header.Key)
	x.header, x.origin = header, head.Origin
	for err == nil {
		var e audit.ExportEntry
		if e, err = reader.Next(); err == nil {
			x.entries = append(x.entries, e)
		}
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	return x
}

// String returns the export as a file, with its current head.
func (x auditExport) String() string {
	var out bytes.Buffer
	w, err := audit.NewExport(&out, x.header)
	for _, e := range x.entries {
		err = errors.Join(err, w.Add(e))
	}
	if err = errors.Join(err, w.Flush()); err != nil {
		panic(err) // cannot fail for a buffer
	}
	return out.String()
}

// signedAgain returns the export with a new head for its current entries, as anyone with the data
// directory could create it.
func (x auditExport) signedAgain(t *testing.T, signer *audit.Signer) auditExport {
	t.Helper()
	head := audit.Head{Origin: x.origin}
	var state audit.State
	for _, e := range x.entries {
		_, state = state.Append(e.Leaf)
	}
	head.Size, head.Root = state.Size, state.Root()
	x.header.Head = must[string](t)(signer.SignHead(head))
	return x
}

// edited changes fields of an entry.
func (x auditExport) edited(t *testing.T, number int, edit func(*audit.Entry)) {
	t.Helper()
	e := must[audit.Entry](t)(audit.Parse(x.entries[number].Leaf))
	edit(&e)
	x.entries[number].Leaf = must[[]byte](t)(e.Leaf())
}

// tampering contains ways to tamper with a log of 14 entries or more. Each is tried with the
// original head, and with a new signature.
var tampering = map[string]func(t *testing.T, x *auditExport){
	"edit": func(t *testing.T, x *auditExport) { x.edited(t, 6, func(e *audit.Entry) { e.User[3]++ }) },
	"edit the values, too": func(t *testing.T, x *auditExport) {
		x.entries[6].Texts = audit.Seal(`{"name":"another"}`)
		x.edited(t, 6, func(e *audit.Entry) { e.Texts = x.entries[6].Texts.Digest() })
	},
	"insert": func(t *testing.T, x *auditExport) { x.entries = slices.Insert(x.entries, 6, x.entries[6]) },
	"drop":   func(t *testing.T, x *auditExport) { x.entries = slices.Delete(x.entries, 6, 7) },
	"swap":   func(t *testing.T, x *auditExport) { x.entries[6], x.entries[7] = x.entries[7], x.entries[6] },
	"cut":    func(t *testing.T, x *auditExport) { x.entries = x.entries[:7] },
	"rewrite": func(t *testing.T, x *auditExport) {
		for n := range x.entries {
			x.edited(t, n, func(e *audit.Entry) { e.Stamp += 1_000_000 })
		}
	},
}

// TestAuditTampering tampers with a real log in every way. verify, and the program for auditors,
// detect it with any older head that covers the entry, even if the log was signed again with the
// right key. An erased value is not reported as tampering.
func TestAuditTampering(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"python3", "openssl"} {
		if _, err := exec.LookPath(program); err != nil && os.Getenv("CI") != "true" {
			t.Skipf("not tried without %s", program)
		}
	}
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	for _, name := range []string{"a.csv", "b.csv", "c.csv", "größe <&>.csv", "e.csv", "f.csv"} {
		s.put(t, set.ID, name, "one")
	}
	old := s.run(t, "", "audit", "head").out
	if err := s.client.Audit.Erase(t.Context(), 6); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"g.csv", "h.csv", "i.csv", "j.csv"} {
		s.put(t, set.ID, name, "one")
	}
	older := s.run(t, "", "audit", "head", "--size", "8").out
	heads := filepath.Join(t.TempDir(), "heads.txt")
	write(t, heads, older+old)
	export := s.run(t, "", "audit", "export", "-")
	if export.error != nil {
		t.Fatal(export)
	}
	seed := must[[]byte](t)(hkdf.Key(sha256.New, s.secret[:], nil, "labshelf audit key", 32))
	signer := must[*audit.Signer](t)(audit.NewSigner(metadata.IdentityOf(s.secret).String(), [32]byte(seed)))
	if !strings.Contains(export.out, signer.Key()) {
		t.Fatal("this is not the key that signs")
	}
	check := func(t *testing.T, x auditExport, code int, heads ...string) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		write(t, path, x.String())
		args := []string{"audit", "verify", path}
		for _, file := range heads {
			args = append(args, "--head", file)
		}
		if got := s.run(t, "", args...); (got.error != nil) != (code != 0) || errors.Is(got.error, exit.ErrPartly) || strings.Contains(got.out, "TAMPERED") != (code != 0) {
			t.Errorf("verify, heads %s: %v", heads, got)
		}
		python := exec.Command("python3", append([]string{"../../docs/examples/verify_audit.py", path}, heads...)...)
		python.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
		if out, err := python.CombinedOutput(); python.ProcessState.ExitCode() != code {
			t.Errorf("Python, heads %s: %v, want exit code %d\n%s", heads, err, code, out)
		}
	}
	check(t, parseExport(t, export.out), 0, heads)
	path := filepath.Join(t.TempDir(), "salted.jsonl")
	write(t, path, intoSalts(t, export.out))
	if got := s.run(t, "", "audit", "verify", path, "--head", heads); got.error == nil {
		t.Errorf("verify accepts values that were moved into the salts: %v", got)
	}
	if out, err := exec.Command("python3", "../../docs/examples/verify_audit.py", path, heads).CombinedOutput(); err == nil {
		t.Errorf("Python accepts values that were moved into the salts\n%s", out)
	}
	for name, tamper := range tampering {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := parseExport(t, export.out)
			tamper(t, &x)
			check(t, x, 1)
			check(t, x, 1, heads)
			check(t, x.signedAgain(t, signer), 1, heads) // only an older head reveals this
		})
	}
}

// intoSalts moves the first bytes of each address to its salt, which does not change the digest.
func intoSalts(t *testing.T, export string) string {
	t.Helper()
	lines := strings.SplitAfter(export, "\n")
	for i, line := range lines[:len(lines)-1] {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		if address, ok := entry["address"].(map[string]any); ok {
			salt := must[[]byte](t)(base64.StdEncoding.DecodeString(address["salt"].(string)))
			text := address["text"].(string)
			address["salt"], address["text"] = base64.StdEncoding.EncodeToString(append(salt, text[:2]...)), text[2:]
			lines[i] = string(must[[]byte](t)(json.Marshal(entry))) + "\n"
		}
	}
	return strings.Join(lines, "")
}

// TestAuditVerifyJSON: JSON contains the same results as the text.
func TestAuditVerifyJSON(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.newSet(t, "lab", "runs")
	dir := t.TempDir()
	path, heads := filepath.Join(dir, "audit.jsonl"), filepath.Join(dir, "heads.txt")
	write(t, heads, s.run(t, "", "audit", "head").out)
	if got := s.run(t, "", "audit", "export", path); got.error != nil || got.out != "" {
		t.Fatal(got)
	}
	var found auditlog.VerificationJSON
	got := s.run(t, "", "audit", "verify", path, "--head", heads, "--json")
	if err := json.Unmarshal([]byte(got.out), &found); err != nil || got.error != nil || !found.Sound || found.Tampered || len(found.Heads) != 1 || found.Heads[0].Verdict != "unchanged" {
		t.Errorf("%v, %+v", got, found)
	}
	if got := s.run(t, must[string](t)(readText(path)), "audit", "verify", "-"); got.error != nil || !strings.Contains(got.out, "--head") {
		t.Errorf("without a head: %v", got)
	}
	other := must[*audit.Signer](t)(audit.NewSigner("other", [32]byte{1}))
	if got := s.run(t, "", "audit", "verify", path, "--key", other.Key()); !errors.Is(got.error, audit.ErrHead) {
		t.Errorf("another key: %v", got)
	}
	if got := s.runAs(t.Context(), "lsk_wrong", "", "audit", "export", path); got.error == nil {
		t.Error("an export without a key")
	}
	if again := must[string](t)(readText(path)); !strings.Contains(again, "audit export 1") || len(must[[]os.DirEntry](t)(os.ReadDir(dir))) != 2 {
		t.Errorf("after a failed export: %q", again)
	}
}

func readText(path string) (string, error) {
	text, err := os.ReadFile(path)
	return string(text), err
}
