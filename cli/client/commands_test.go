package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"labshelf/cli/client/command"
	"labshelf/cli/client/fetch"
	"labshelf/cli/exit"
	"labshelf/cli/process"
	"labshelf/client"
)

// TestEachEndsEarly: an error that affects all arguments is reported once, and an error of one
// argument does not stop the others.
func TestEachEndsEarly(t *testing.T) {
	t.Parallel()
	refused := &client.Problem{Status: 409, Code: "busy"}
	for name, test := range map[string]struct {
		errs []error
		done int
		is   error
	}{
		"all well":     {[]error{nil, nil}, 2, nil},
		"one":          {[]error{refused}, 1, refused},
		"one of three": {[]error{nil, refused, nil}, 3, exit.ErrPartly},
		"a wrong key":  {[]error{nil, &client.Problem{Status: 401, Code: "unauthenticated"}, nil}, 2, nil},
		"no labshelf":  {[]error{&client.Problem{Status: 502}, nil}, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			done, refs := 0, make([]string, len(test.errs))
			err := command.Process{Process: process.Process{Err: io.Discard}}.Each(t.Context(), refs, func(string) error { done++; return test.errs[done-1] })
			if done != test.done || (err == nil) != (name == "all well") || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%d done, %v", done, err)
			}
		})
	}
	var written strings.Builder
	err := command.Process{Process: process.Process{Err: &written}}.Each(t.Context(), []string{"a\tb", "c"}, func(string) error { return errors.New("one\ntwo") })
	if err == nil || errors.Is(err, exit.ErrPartly) || !strings.HasPrefix(written.String(), "labshelf: a\uFFFDb: one\nlabshelf:   two\nlabshelf: c: ") {
		t.Errorf("%v, written %q", err, &written)
	}
}

// TestSignalIsReported: a signal is reported as such, whatever error it caused.
func TestSignalIsReported(t *testing.T) {
	t.Parallel()
	s := start(t)
	ctx, stop := context.WithCancel(t.Context())
	s.intercept(func(w http.ResponseWriter, r *http.Request) { stop(); <-r.Context().Done() })
	if got := s.runAs(ctx, s.key, "", "ls"); !errors.Is(got.error, exit.ErrInterrupted) || strings.Contains(got.Error(), "context canceled") {
		t.Errorf("got %v", got.error)
	}
}

func TestCompletionOffersNames(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.newSet(t, "lab", "runs")
	if got := s.run(t, "", "__complete", "ls", ""); !strings.HasPrefix(got.out, "lab\nruns\n:") {
		t.Fatalf("got %+v", got)
	}
}

// TestCompletionEndsAfterTwoSeconds: if the service does not answer, the completion ends without
// suggestions.
func TestCompletionEndsAfterTwoSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := command.Process{Connect: func(*pflag.FlagSet, process.Process, bool) (*client.Client, error) {
			return client.New("http://localhost:1/v1", ""), nil
		}}
		begin := time.Now()
		silent := func(ctx context.Context, _ *client.Client, _ string) []cobra.Completion { <-ctx.Done(); return nil }
		list, directive := p.Ask(&cobra.Command{}, silent, "")
		if took := time.Since(begin); took != 2*time.Second || len(list) > 0 || directive != cobra.ShellCompDirectiveNoFileComp {
			t.Errorf("after %v: %v, %v", took, list, directive)
		}
	})
}

// TestStatusExplainsFailures: sysadmins see the details of failures, with advice.
func TestStatusExplainsFailures(t *testing.T) {
	t.Parallel()
	s := start(t)
	answer, meStatus := "", 200
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !strings.HasSuffix(r.URL.Path, "/status"):
			if meStatus != 200 {
				http.Error(w, `{"code": "internal"}`, meStatus)
				return
			}
			on(w, r)
		default:
			if strings.Contains(answer, failing) {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			_, _ = io.WriteString(w, answer)
		}
	})
	detail := `"detail": {"failing": "", "readOnly": "disk on fire", "clockBehind": 90000, "damaged": 3,
		"scrub": {"begun": "2026-01-02T03:04:05.678Z", "checked": 7, "found": 3, "passes": 2},
		"background": {"purge": "no\u001b[2J room"}, "held": {"files": 4, "bytes": 4096}, "started": "2026-01-02T03:04:05.678Z",
		"identity": "c2eb", "epoch": {"id": "5f0c", "base": "2026-01-02T03:04:05.678Z", "began": "2026-01-03T03:04:05.678Z"},
		"nodes": [{"name": "b", "version": "2", "since": "2026-01-02T03:04:05.678Z", "seen": "2026-01-04T03:04:05.678Z"}]}`
	answer = `{"status": "READ-ONLY", "hostname": "host", "node": "a", "engine": "postgres", "version": "1", ` + detail + `}`
	got := s.run(t, "", "status")
	for _, want := range []string{
		"status READ-ONLY", "that is it serves reads and rejects changes", "you are admin", "because disk on fire", "clock 1 min 30 s behind",
		"damaged 3 files: \"labshelf check\"", ": 7 files read, 3 found damaged; 2 passes before it", "inline 4 small files, 4.0 KiB",
		"purge fails no\uFFFD[2J room", "identity c2eb", "epoch 5f0c, begun 2026-01-03", "node a, with metadata in postgres", "node b labshelf 2, runs since 2026-01-02", "with the state of 2026-01-02",
	} {
		if got.error != nil || !strings.Contains(strings.Join(strings.Fields(got.out), " "), want) {
			t.Errorf("no %q in %v\n%s", want, got.error, got.out)
		}
	}
	meStatus = 500
	if got := s.run(t, "", "status"); got.error == nil || got.out != "" {
		t.Errorf("a healthy service that cannot return the user: %+v", got)
	}
	answer = `{"status": "FAILING", "hostname": "host", "version": "1"}`
	if got := s.run(t, "", "status"); got.error == nil || !strings.Contains(got.out, "unknown now") {
		t.Errorf("got %+v", got)
	}
	answer, meStatus = `{"status": "OK", "hostname": "host", "version": "1"}`, 200
	if got := s.runAs(t.Context(), "lsk_wrong", "", "status"); got.error != nil || !strings.Contains(got.out, "does not know the key") {
		t.Errorf("got %+v", got)
	}
}

// TestCatFailsOnDamage: cat fails if the bytes do not match the record.
func TestCatFailsOnDamage(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	r := s.put(t, set.ID, "a.txt", "right")
	s.intercept(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/data") {
			i := w.(intercepted)
			i.service.ServeHTTP(wrong{i.ResponseWriter}, r)
			return
		}
		on(w, r)
	})
	if got := s.run(t, "", "cat", r.ID); !errors.Is(got.error, client.ErrDigest) || !strings.Contains(got.Error(), "do not use the written part") {
		t.Errorf("got %+v", got)
	}
}

// wrong replaces every letter with another one.
type wrong struct{ http.ResponseWriter }

func (w wrong) Write(b []byte) (int, error) {
	return w.ResponseWriter.Write([]byte(strings.Repeat("x", len(b))))
}

// TestDiskAdvice: if the local disk refuses a write, get and harvest give advice.
func TestDiskAdvice(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	r := s.put(t, set.ID, "a.txt", "text")
	for command, partial := range map[string]string{"get": partialName(r), "harvest": "incoming/" + r.ID + "-" + r.SHA256.String() + ".part"} {
		dir := t.TempDir()
		if command == "harvest" {
			if got := s.run(t, "", command, "lab", dir); got.error != nil { // the first run creates the folders
				t.Fatal(got.error)
			}
			if err := os.Remove(filepath.Join(dir, "files", "runs", "a.txt")); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(filepath.Join(dir, partial, "in the way"), 0o700); err != nil {
			t.Fatal(err)
		}
		args := map[string][]string{"get": {"get", "runs", dir}, "harvest": {"harvest", "lab", dir, "--from-start"}}[command]
		if got := s.run(t, "", args...); !errors.Is(got.error, fetch.ErrDisk) || !strings.HasSuffix(got.Error(), "\nfree some space there, or check that you may write, and run the same command again") {
			t.Errorf("%s: %+v", command, got)
		}
	}
}

// TestRestoreMoved: restore of a moved file reports that two files exist now.
func TestRestoreMoved(t *testing.T) {
	t.Parallel()
	s := start(t)
	one, two := s.newSet(t, "one", "first"), s.newSet(t, "two", "second")
	old := s.put(t, one.ID, "a.txt", "alpha")
	moved := must[client.Resource](t)(s.client.Resources.Move(t.Context(), old.ID, client.Destination{SetID: two.ID}))
	if got := s.run(t, "", "restore", old.ID); got.error != nil || !strings.Contains(got.out, "two files") || !strings.Contains(got.out, moved.ID) {
		t.Error(got)
	}
	if got := s.run(t, "", "rm", old.ID); got.error != nil {
		t.Error(got)
	}
	if got := s.run(t, "", "restore", old.ID); got.error != nil || strings.Contains(got.out, "two files") {
		t.Error(got)
	}
}
