package child_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"labshelf/formats/descriptive"
	"labshelf/formats/extraction/child"
)

// TestInheritsNothing examines a child from inside. It has no files except its input and output,
// and no environment.
func TestInheritsNothing(t *testing.T) {
	t.Parallel()
	var pipe [2]int // as a service may inherit it, without close-on-exec
	if err := syscall.Pipe(pipe[:]); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = syscall.Close(pipe[0]), syscall.Close(pipe[1]) }()
	got, err := runner(t).Read(t.Context(), descriptive.FromSidecar, "sample 17.csv.json", strings.NewReader(`{"do":"what"}`))
	if err != nil {
		t.Fatal(err)
	}
	text := func(name string) string { v, _ := got.Properties.Get(name); return v.Text() }
	for file := range strings.SplitSeq(text("files"), "\n") {
		number, target, _ := strings.Cut(file, " ")
		ofGo := target == "" || strings.HasPrefix(target, "anon_inode:[event") || strings.HasPrefix(target, "/sys/fs/cgroup/") || strings.HasPrefix(target, "/proc/")
		if len(number) > 1 || number > "2" && !ofGo {
			t.Errorf("it has %s", file)
		}
	}
	environment, _ := got.Properties.Get("environment")
	for _, v := range environment.List() {
		if !strings.HasPrefix(v.Text(), "GO") {
			t.Errorf("its environment has %s", v.Text())
		}
	}
	for _, refused := range []string{"network", "program"} {
		if !strings.Contains(text(refused), "operation not permitted") {
			t.Errorf("%s: %s", refused, text(refused))
		}
	}
	arguments, _ := got.Properties.Get("arguments")
	if n := len(arguments.List()); n != 4 || arguments.List()[3].Text() != "file.json" || text("folder") != "/" {
		t.Errorf("%v, in %s", arguments, text("folder"))
	}
}

// TestEndsWithItsService kills a process that waits for its child.
func TestEndsWithItsService(t *testing.T) {
	t.Parallel()
	if os.Getenv("SERVICE") != "" {
		_, _ = runner(t).Read(t.Context(), descriptive.FromSidecar, "x", strings.NewReader(`{"do":"sleep"}`))
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestEndsWithItsService$")
	cmd.Env = append(os.Environ(), "SERVICE=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var children []string
	for deadline := time.Now().Add(20 * time.Second); len(children) == 0; {
		if children = childrenOf(t, cmd.Process.Pid); time.Now().After(deadline) {
			t.Fatal("the process has no child")
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for deadline := time.Now().Add(20 * time.Second); ; {
		status, err := os.ReadFile(filepath.Join("/proc", children[0], "status"))
		if err != nil || strings.Contains(string(status), "State:\tZ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("child %s lives on: %s", children[0], status)
		}
	}
}

// childrenOf returns the ids of the child processes of a process that already run their own
// program.
func childrenOf(t *testing.T, pid int) (ids []string) {
	t.Helper()
	tasks, err := filepath.Glob(filepath.Join("/proc", fmt.Sprint(pid), "task", "*", "children"))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		text, _ := os.ReadFile(task)
		for id := range strings.FieldsSeq(string(text)) {
			if line, _ := os.ReadFile(filepath.Join("/proc", id, "cmdline")); strings.Contains(string(line), child.Command) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
