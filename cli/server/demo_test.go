//go:build unix

package server

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"labshelf/cli/process"
	"labshelf/client"
)

// TestDemo: the demonstration lists its users, and its repository contains what its text promises.
// At the end, nothing of it remains.
func TestDemo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	folder := t.TempDir()
	cmd := exec.CommandContext(ctx, process.Program, "demo")
	cmd.Env = append(os.Environ(), "TMPDIR="+folder, "LABSHELF_DATA="+folder+"/not-this-one")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	link, seen := regexp.MustCompile(`(http://\S+)/signin#(lsk_\S+)`), []string{}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if found := link.FindStringSubmatch(lines.Text()); found != nil {
			seen = append(seen, whatIsSeen(t, client.New(found[1]+"/v1", found[2])))
		}
		if strings.Contains(lines.Text(), "curl ") {
			break
		}
	}
	want := []string{"admin: 2 dataspaces, 12 files", "ines: 2 dataspaces, 12 files", "mara: 2 dataspaces, 12 files", "jon: 2 dataspaces, 12 files"}
	if strings.Join(seen, "\n") != strings.Join(want, "\n") {
		t.Errorf("visitors see %q, want %q", seen, want)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended badly: %v\n%s", err, said.String())
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v remains (%v)", left, err)
	}
}

// whatIsSeen returns the caller's name and the numbers of objects that the caller can see.
func whatIsSeen(t *testing.T, c *client.Client) string {
	t.Helper()
	defer c.Close()
	me, err := c.Users.Me(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s: %d dataspaces, %d files", me.Username,
		countOf(t, c.Dataspaces.List(t.Context(), client.ListOptions{})), countOf(t, c.Resources.List(t.Context(), client.ListOptions{})))
}

// countOf counts the items of a listing.
func countOf[T any](t *testing.T, listing iter.Seq2[T, error]) (n int) {
	t.Helper()
	for _, err := range listing {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}
