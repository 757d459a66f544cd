package child_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"labshelf/formats/descriptive"
	"labshelf/formats/extraction"
	"labshelf/formats/extraction/child"
	_ "labshelf/internal/testhome"
)

// TestMain also runs the child. If the file begins with "!", the child misbehaves in a way that no
// real file can cause.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == child.Command {
		os.Exit(child.Main(os.Args[2:], os.Stdin, misbehaving{}))
	}
	os.Exit(m.Run())
}

// misbehaving writes the child's response, unless the input makes it misbehave. The limits of the
// child already apply.
type misbehaving struct{}

func (misbehaving) Write(text []byte) (int, error) {
	var a struct {
		Properties map[string]any
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return 0, err
	}
	switch a.Properties["do"] {
	case "spin":
		for n := 0; ; n++ {
			_ = fmt.Sprint(n)
		}
	case "sleep":
		time.Sleep(time.Minute)
	case "allocate":
		all := map[int][]byte{}
		for {
			all[len(all)] = bytes.Repeat([]byte{1}, 64<<20) // few allocations, so that the collector does not run repeatedly
		}
	case "panic":
		panic("on purpose")
	case "flood":
		for {
			if _, err := os.Stdout.Write(bytes.Repeat([]byte{' '}, 1<<16)); err != nil {
				return 0, err
			}
		}
	case "garbage":
		return os.Stdout.WriteString("{")
	case "invalid":
		return os.Stdout.WriteString(`{"properties":{"a!":1}}`)
	case "what":
		return 0, json.NewEncoder(os.Stdout).Encode(map[string]any{"properties": map[string]any{
			"network": said(net.Listen("tcp", "127.0.0.1:0")), "program": fmt.Sprint(exec.Command("/bin/true").Run()),
			"files": list("/proc/self/fd"), "environment": os.Environ(), "folder": folder(), "arguments": os.Args,
		}})
	}
	return os.Stdout.Write(text)
}

func said(_ net.Listener, err error) string { return fmt.Sprint(err) }

func list(dir string) string {
	entries, _ := os.ReadDir(dir)
	var names []string
	for _, entry := range entries {
		target, _ := os.Readlink(filepath.Join(dir, entry.Name()))
		names = append(names, entry.Name()+" "+target)
	}
	return strings.Join(names, "\n")
}

func folder() string { dir, _ := os.Getwd(); return dir }

func runner(t *testing.T) *child.Runner {
	t.Helper()
	r, err := child.New()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestChildReadsLikeThisProcess(t *testing.T) {
	t.Parallel()
	r := runner(t)
	files, err := filepath.Glob(filepath.Join("..", "testdata", "*.[tnjc]*"))
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := extraction.Header(bytes.NewReader(text), int64(len(text)), name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []io.Reader{file, bytes.NewReader(text)} {
			got, err := r.Read(t.Context(), descriptive.FromHeader, "the name\x00"+name, in)
			if err != nil || !same(got, want) {
				t.Errorf("%s: %v, %v, want %v", name, got, err, want)
			}
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}
}

func same(a, b extraction.Result) bool {
	return a.Left == b.Left && (descriptive.Metadata{Properties: a.Properties}).Equal(descriptive.Metadata{Properties: b.Properties})
}

func TestReadsSidecars(t *testing.T) {
	t.Parallel()
	r := runner(t)
	got, err := r.Read(t.Context(), descriptive.FromSidecar, "a.csv.json", strings.NewReader(`{"a":1,"b":null,"c":"<&>"}`))
	if text := string(descriptive.Metadata{Properties: got.Properties}.Append(nil)); err != nil || text != `{"properties":{"a":1,"c":"<&>"}}` || got.Left != 1 {
		t.Errorf("%s, %d omitted, %v", text, got.Left, err)
	}
	for _, text := range []string{"", "[]", `{"a":"` + strings.Repeat("x", 2<<20) + `"}`} {
		if _, err := r.Read(t.Context(), descriptive.FromSidecar, "a.csv.json", strings.NewReader(text)); !errors.Is(err, extraction.ErrFormat) {
			t.Errorf("%.10q: %v", text, err)
		}
	}
}

func TestChildrenThatMisbehave(t *testing.T) {
	t.Parallel()
	for do, want := range map[string]string{
		"spin": "took more than 2s", "sleep": "took more than 2s", "allocate": "exit status", "panic": "on purpose", "flood": "the answer is too long",
		"garbage": "the answer is not JSON", "invalid": "a! must have a name of letters",
	} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			r := runner(t)
			r.MaxTime = time.Minute
			if do == "spin" || do == "sleep" {
				r.MaxTime = 2 * time.Second
			}
			got, err := r.Read(t.Context(), descriptive.FromSidecar, "x", strings.NewReader(`{"do":"`+do+`"}`))
			if !errors.Is(err, extraction.ErrFormat) || !strings.Contains(err.Error(), want) || got.Properties != nil {
				t.Errorf("%v, %v, want %s", got, err, want)
			}
		})
	}
}

func TestEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, err := runner(t).Read(ctx, descriptive.FromSidecar, "x", strings.NewReader(`{"do":"sleep"}`))
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, extraction.ErrFormat) || time.Since(begun) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}

func TestProgramThatCannotStart(t *testing.T) {
	t.Parallel()
	if _, err := (&child.Runner{MaxTime: time.Second}).Read(t.Context(), descriptive.FromSidecar, "x", nil); err == nil || errors.Is(err, extraction.ErrFormat) {
		t.Error(err)
	}
}
