package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"labshelf/formats/audit"
	_ "labshelf/internal/testhome"
)

// log is an audit log for a test, with its signer.
type log struct {
	t       testing.TB
	signer  *audit.Signer
	epoch   string
	state   audit.State
	stamp   int64
	entries []audit.ExportEntry
}

func newLog(t testing.TB) *log {
	l := &log{t: t, signer: newSigner(t, repository, 1)}
	l.begin(firstEpoch)
	return l
}

// begin begins an epoch.
func (l *log) begin(epoch string) {
	l.epoch = epoch
	values := audit.Epoch{ID: epoch, Base: l.stamp, Size: l.state.Size, Root: l.state.Root()}.Values()
	l.add(audit.Entry{Action: audit.EpochBegin, Stamp: l.stamp, Values: values}, "", "")
}

// add adds an entry. An entry without a stamp gets the next one.
func (l *log) add(e audit.Entry, texts, address string) {
	l.t.Helper()
	if e.Stamp == 0 && e.Action != audit.EpochBegin {
		l.stamp++
		e.Stamp = l.stamp
	}
	x := audit.ExportEntry{Texts: audit.Seal(texts), Address: audit.Seal(address)}
	e.Texts, e.Address = x.Texts.Digest(), x.Address.Digest()
	var err error
	if x.Leaf, err = e.Leaf(); err != nil {
		l.t.Fatal(err)
	}
	_, l.state = l.state.Append(x.Leaf)
	l.entries = append(l.entries, x)
}

// changes adds entries up to a size.
func (l *log) changes(size int) {
	for n := len(l.entries); n < size; n++ {
		l.add(audit.Entry{Action: audit.ResourceCreate, Version: 1, Previous: uint64(n - 1)}, fmt.Sprintf(`{"name":"<%d> ä"}`, n), "127.0.0.1")
	}
}

// restored returns the log as it was at a size, in a new epoch.
func (l *log) restored(size int, epoch string) *log {
	r := &log{t: l.t, signer: l.signer}
	for _, x := range l.entries[:size] {
		_, r.state = r.state.Append(x.Leaf)
		r.entries = append(r.entries, x)
	}
	r.stamp = int64(size)
	r.begin(epoch)
	return r
}

func (l *log) head() string {
	return signed(l.t, l.signer, audit.Head{Origin: audit.Origin{Repository: repository, Epoch: l.epoch}, Size: l.state.Size, Root: l.state.Root()})
}

// export returns the export of the log, with its head.
func (l *log) export() string { return exported(l.t, l.signer.Key(), l.head(), l.entries) }

func exported(t testing.TB, key, head string, entries []audit.ExportEntry) string {
	t.Helper()
	var out bytes.Buffer
	x, err := audit.NewExport(&out, audit.ExportHeader{Key: key, Head: head})
	for _, e := range entries {
		err = errors.Join(err, x.Add(e))
	}
	if err = errors.Join(err, x.Flush()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// needs skips a test if Python and OpenSSL are not installed; in CI it fails.
func needs(t *testing.T) {
	t.Helper()
	for _, program := range []string{"python3", "openssl"} {
		if _, err := exec.LookPath(program); err != nil && os.Getenv("CI") != "true" {
			t.Skipf("not tried without %s", program)
		}
	}
}

// python runs the example program for auditors. It returns the exit code.
func python(t *testing.T, export string, heads ...string) (code int, output string) {
	t.Helper()
	needs(t)
	dir := t.TempDir()
	args := []string{"../../docs/examples/verify_audit.py", filepath.Join(dir, "export")}
	if len(heads) > 0 {
		args = append(args, filepath.Join(dir, "heads"))
	}
	for i, text := range []string{export, strings.Join(heads, "")} {
		if err := os.WriteFile(filepath.Join(dir, []string{"export", "heads"}[i]), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("python3", args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// TestVerifyRestored tests that after a restoration, older heads are reported as unchanged or lost.
// A log that was tampered with is distinguished from a restored one.
func TestVerifyRestored(t *testing.T) {
	t.Parallel()
	const second, third = "5f0c0000000000000000000000000002", "5f0c0000000000000000000000000003"
	l := newLog(t)
	empty := signed(t, l.signer, audit.Head{Origin: audit.Origin{Repository: repository, Epoch: firstEpoch}, Root: audit.State{}.Root()})
	l.changes(5)
	early := l.head()
	l.changes(20)
	late := l.head()
	restored := l.restored(10, second)
	restored.changes(30)
	inSecond := restored.head()
	again := l.restored(10, third) // from the same backup, so that the second epoch is lost
	again.changes(12)
	edited := l.restored(10, second)
	edited.entries[3] = edited.entries[4]
	for name, c := range map[string]struct {
		log   *log
		heads []string
		want  []audit.HeadCompared
	}{
		"as it was":          {l, []string{early, late, empty}, []audit.HeadCompared{{}, {}, {}}},
		"the export is old":  {l.restored(10, second), []string{inSecond}, []audit.HeadCompared{{Verdict: audit.Changed, From: 11, To: 30}}},
		"restored":           {restored, []string{early, late, inSecond}, []audit.HeadCompared{{}, {Verdict: audit.GivenUp, From: 10, To: 20, By: 10}, {}}},
		"restored twice":     {again, []string{early, inSecond}, []audit.HeadCompared{{}, {Verdict: audit.GivenUp, From: 10, To: 30, By: 10}}},
		"of a lost epoch":    {l, []string{inSecond}, []audit.HeadCompared{{Verdict: audit.Changed, From: 20, To: 30}}},
		"restored to before": {l.restored(3, third), []string{early}, []audit.HeadCompared{{Verdict: audit.GivenUp, From: 3, To: 5, By: 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := audit.Verify(strings.NewReader(c.log.export()), audit.VerifyOptions{Heads: c.heads})
			if err != nil || len(found.Findings) > 0 || found.Entries != c.log.state.Size || found.Root != c.log.state.Root() {
				t.Fatalf("%v, %+v", err, found)
			}
			worst := audit.Unchanged
			for i, got := range found.Older {
				want := c.want[i]
				want.Head, worst = got.Head, max(worst, want.Verdict)
				if got != want {
					t.Errorf("head %d: %+v, want %+v", i, got, want)
				}
			}
			if found.Tampered() != (worst == audit.Changed) || found.Sound() != (worst == audit.Unchanged) {
				t.Errorf("sound %v, tampered %v", found.Sound(), found.Tampered())
			}
			if code, out := python(t, c.log.export(), c.heads...); code != [...]int{0, 6, 1}[worst] {
				t.Errorf("Python: %d\n%s", code, out)
			}
		})
	}
	found, err := audit.Verify(strings.NewReader(edited.export()), audit.VerifyOptions{Heads: []string{early}})
	if err != nil || !found.Tampered() || found.Older[0].Verdict != audit.Changed || found.Older[0].From != 0 {
		t.Errorf("an edit before a restoration: %v, %+v", err, found)
	}
}

// TestVerifyFindings tests that contradictions within an export are found, even if it is signed.
func TestVerifyFindings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		add  func(*log)
		want string // part of the finding
	}{
		"a stamp again":           {func(l *log) { l.add(audit.Entry{Action: audit.UserCreate, Stamp: 7}, "", "") }, "entry 8: its stamp 7 is not after"},
		"a later entry":           {func(l *log) { l.add(audit.Entry{Action: audit.UserCreate, Previous: 8}, "", "") }, "entry 8: it refers to"},
		"a later cause":           {func(l *log) { l.add(audit.Entry{Action: audit.UserCreate, Cause: 9}, "", "") }, "entry 8: it refers to"},
		"an epoch elsewhere":      {func(l *log) { l.state.Size++; l.begin(l.epoch); l.state.Size-- }, "entry 8: the epoch does not continue"},
		"no epoch":                {func(l *log) { l.add(audit.Entry{Action: audit.EpochBegin, Stamp: 8, Values: "{}"}, "", "") }, "entry 8: the epoch does not"},
		"other values":            {func(l *log) { l.entries[5].Texts.Text = "{}" }, "entry 5: its texts are not the sealed text"},
		"another address":         {func(l *log) { l.entries[5].Address = audit.Seal("::1") }, "entry 5: its address is not the sealed text"},
		"values without a digest": {func(l *log) { l.entries[0].Texts = audit.Seal("x") }, "entry 0: its texts are not"},
		"missing values":          {func(l *log) { l.entries[5].Texts = audit.Sealed{} }, "entry 5: texts are missing, and no entry reports"},
		"a missing address":       {func(l *log) { l.entries[5].Address = audit.Sealed{} }, "entry 5: texts are missing, and no entry reports"},
		"another one erased": {func(l *log) {
			l.entries[5].Texts = audit.Sealed{}
			l.add(audit.Entry{Action: audit.Erase, Values: `{"entry":"4"}`}, "", "")
		}, "entry 5: texts are missing"},
		"erased later":  {func(l *log) { l.add(audit.Entry{Action: audit.Erase, Values: `{"entry":"8"}`}, "", "") }, "entry 8: it does not name the entry"},
		"another epoch": {func(l *log) { l.epoch = strings.Repeat("0", 32) }, "the last epoch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLog(t)
			l.changes(8)
			c.add(l)
			found, err := audit.Verify(strings.NewReader(l.export()), audit.VerifyOptions{})
			if err != nil || len(found.Findings) == 0 || !strings.Contains(found.Findings[0], c.want) || found.Sound() || !found.Tampered() {
				t.Errorf("%v, %+v, want %q", err, found, c.want)
			}
			if code, out := python(t, l.export()); code != 1 {
				t.Errorf("Python: %d\n%s", code, out)
			}
		})
	}
}

// TestVerifyErased tests that erased values are valid, and are counted. The number of findings is
// limited.
func TestVerifyErased(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	l.changes(200)
	head := l.head()
	for _, n := range []int{5, 130} {
		l.entries[n].Texts, l.entries[n].Address = audit.Sealed{}, audit.Sealed{}
		l.add(audit.Entry{Action: audit.Erase, Values: fmt.Sprintf(`{"entry":"%d"}`, n)}, "", "")
	}
	found, err := audit.Verify(strings.NewReader(l.export()), audit.VerifyOptions{Heads: []string{head}, Key: l.signer.Key()})
	if err != nil || !found.Sound() || found.Erased != 2 {
		t.Errorf("%v, %+v", err, found)
	}
	if code, out := python(t, l.export(), head); code != 0 {
		t.Errorf("Python: %d\n%s", code, out)
	}
	for i := range l.entries {
		l.entries[i].Texts = audit.Sealed{}
	}
	found, err = audit.Verify(strings.NewReader(l.export()), audit.VerifyOptions{})
	if err != nil || len(found.Findings) != 20 || found.More != 197-20 {
		t.Errorf("%v, %d findings and %d more", err, len(found.Findings), found.More)
	}
}

// TestVerifyRefuses tests that an invalid export, or an export without a head signed with the key,
// causes an error that names the position.
func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	l, other := newLog(t), newLog(t)
	l.changes(3)
	other.signer = newSigner(t, repository, 2)
	export := l.export()
	first, rest, _ := strings.Cut(export, "\n")
	for name, c := range map[string]struct {
		export string
		heads  []string
		key    string
		is     error
		want   string
	}{
		"nothing":                       {"", nil, "", audit.ErrExport, "the file is empty"},
		"another format":                {strings.Replace(export, "export 1", "export 2", 1), nil, "", audit.ErrExport, `must be "labshelf audit export 1", not "labshelf audit export 2"`},
		"no JSON":                       {first + "\nx\n" + rest, nil, "", audit.ErrExport, "line 2: "},
		"an empty line":                 {first + "\n" + strings.Replace(rest, "\n", "\n\n", 1), nil, "", audit.ErrExport, "line 3: "},
		"no leaf":                       {first + "\n{}\n", nil, "", audit.ErrExport, "line 2: the leaf is missing"},
		"a short salt":                  {first + "\n" + `{"leaf":"AA==","texts":{"salt":"AA==","text":""}}` + "\n", nil, "", audit.ErrExport, "line 2: a salt has 1 bytes, not 16"},
		"a line that ends too late":     {first + "\n{" + strings.Repeat(" ", 1<<20), nil, "", audit.ErrExport, "line 2: the line is longer than 1048576 bytes"},
		"a line that is cut":            {export[:len(export)-9], nil, "", audit.ErrExport, "line 4: "},
		"an older head of another key":  {export, []string{l.head(), other.head()}, "", audit.ErrHead, "older head 2: "},
		"a trusted key that is another": {export, nil, other.signer.Key(), audit.ErrHead, "the head of the export: "},
		"an older head without the end": {export, []string{l.head()[:80]}, "", audit.ErrHead, "older head 1: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := audit.Verify(strings.NewReader(c.export), audit.VerifyOptions{Heads: c.heads, Key: c.key})
			if found != nil || !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v, want %q", found, err, c.want)
			}
			if code, out := python(t, c.export, c.heads...); code != 1 && c.key == "" && name != "a line that ends too late" {
				t.Errorf("Python: %d\n%s", code, out)
			}
		})
	}
	failing := errors.New("the disk is gone")
	if _, err := audit.Verify(io.MultiReader(strings.NewReader(first+"\n"), errReader{failing}), audit.VerifyOptions{}); !errors.Is(err, failing) || errors.Is(err, audit.ErrExport) {
		t.Errorf("a file that cannot be read: %v", err)
	}
	later := strings.Replace(export, `{"leaf"`, `{"later":{"x":1},"leaf"`, 1)
	if found, err := audit.Verify(strings.NewReader(later), audit.VerifyOptions{}); err != nil || !found.Sound() {
		t.Errorf("an unknown field: %v", err)
	}
	found, err := audit.Verify(strings.NewReader(exported(t, l.signer.Key(), l.head(), slices.Clone(l.entries)[:2])), audit.VerifyOptions{})
	if err != nil || !found.Tampered() || !strings.Contains(found.Findings[0], "the export has 2 entries, but its head covers 3") {
		t.Errorf("a line less: %v, %+v", err, found)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// BenchmarkVerify verifies a million entries of uploads, from memory.
func BenchmarkVerify(b *testing.B) {
	l := newLog(b)
	const entries = 1_000_000
	for n := range entries - 1 {
		e := audit.Entry{
			Action: audit.ResourceCreate, User: [16]byte{1}, Key: [16]byte{2}, Request: [16]byte{3}, Object: audit.Object{Kind: audit.Resource, ID: [16]byte{4, byte(n)}},
			Set: [16]byte{5}, Digest: audit.Hash{6, byte(n)}, Bytes: 4096, Version: 1,
		}
		l.add(e, fmt.Sprintf(`{"name":"2026/11/run-%d.csv","format":"CSV","mimeType":"text/csv","filename":"run-%[1]d.csv"}`, n), "192.0.2.17")
	}
	export, head := l.export(), l.head()
	b.SetBytes(int64(len(export)))
	for b.Loop() {
		if found, err := audit.Verify(strings.NewReader(export), audit.VerifyOptions{Heads: []string{head}}); err != nil || !found.Sound() {
			b.Fatalf("%v, %+v", err, found)
		}
	}
	b.ReportMetric(entries*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}
