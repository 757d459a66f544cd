package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"labshelf/auth/errs"
	"labshelf/bolt"
	"labshelf/cli/exit"
	"labshelf/cli/process"
	"labshelf/client"
	"labshelf/metadata"
)

// allCodes are all exit codes.
var allCodes = exit.CodesOf(exit.Codes(exit.CodeLocked, exit.CodeInUse, exit.CodeDamaged, exit.CodePartly, exit.CodeHeld, exit.CodeInterrupted))

func TestEveryKindHasAnExitCode(t *testing.T) {
	t.Parallel()
	for kind := errs.Internal; kind <= errs.ChecksumMismatch; kind++ {
		code, known := kindExits[kind]
		if !known || code != exit.CodeFailure && code != exit.CodeUsage {
			t.Errorf("kind %d has exit code %d, known: %v", kind, code, known)
		}
		err := fmt.Errorf("wrapped: %w", &errs.Error{Kind: kind})
		if got := exitCode(err); got != code {
			t.Errorf("kind %d: exit code %d, want %d", kind, got, code)
		}
	}
	if n := int(errs.ChecksumMismatch) + 1; len(kindExits) != n {
		t.Errorf("%d of %d kinds have an exit code", len(kindExits), n)
	}
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	documented := map[int]bool{}
	for _, e := range allCodes {
		documented[e.Number] = true
	}
	for _, e := range sentinelExits {
		if got := exitCode(fmt.Errorf("wrapped: %w", e.sentinel)); got != e.code {
			t.Errorf("%v: exit code %d, want %d", e.sentinel, got, e.code)
		}
		if !documented[e.code] {
			t.Errorf("exit code %d has no description", e.code)
		}
	}
	for _, tt := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("anything"), 1},
		{exit.Usage(errors.New("anything")), 2},
		{errors.Join(bolt.ErrLocked, errors.New("closing failed too")), 3},
		{&errs.Error{Kind: errs.Internal, Err: metadata.ErrRecordDamaged}, 5},
		{fmt.Errorf("purge: %w", &client.Problem{Status: 500, Code: errs.CodeDataDamaged}), 5},
	} {
		if got := exitCode(tt.err); got != tt.want {
			t.Errorf("%v: exit code %d, want %d", tt.err, got, tt.want)
		}
	}
}

// TestHelpEndsWithExitCodes checks the help of every command.
func TestHelpEndsWithExitCodes(t *testing.T) {
	t.Parallel()
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if !cmd.Runnable() && !cmd.HasSubCommands() {
			return // a topic
		}
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		var out, problems strings.Builder
		if code := Main(args, nil, &out, &problems); code != exit.CodeOK || problems.Len() > 0 {
			t.Errorf("%s: exit code %d, %s", cmd.CommandPath(), code, &problems)
		}
		_, codes, found := strings.Cut(out.String(), "Exit codes:\n")
		if !found || !strings.Contains(codes, "  0  success\n") || !strings.Contains(codes, "  2  wrong usage") {
			t.Errorf("the help of %s does not end with its exit codes:\n%s", cmd.CommandPath(), &out)
		}
		for _, e := range allCodes {
			if cmd.Name() == "serve" && e.Number != exit.CodePartly && e.Number != exit.CodeHeld && !strings.Contains(codes, fmt.Sprintf("%3d  %s\n", e.Number, e.Meaning)) {
				t.Errorf("the help of serve does not name exit code %d", e.Number)
			}
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(rootCommand(process.Process{Out: io.Discard, Err: io.Discard}))
}

func TestExplainNamesTheCause(t *testing.T) {
	t.Parallel()
	refusal := &errs.Error{Kind: errs.Internal, Code: errs.CodeReadOnly, Message: "it failed", Err: errors.New("disk on fire")}
	if got := explain(fmt.Errorf("wrapped: %w", refusal)); got != "it failed: disk on fire" {
		t.Errorf("got %q", got)
	}
	damaged := fmt.Errorf("wrapped: %w", &client.Problem{Status: 500, Code: errs.CodeDataDamaged, Detail: "a stored record is damaged"})
	if got := explain(damaged); !strings.Contains(got, "wrapped: ") || !strings.Contains(got, "labshelf check --data DIR") {
		t.Errorf("got %q", got)
	}
	refusal.Code = errs.CodeInternal
	if got := explain(refusal); got != "disk on fire" {
		t.Errorf("got %q", got)
	}
	refusal.Err = nil
	if got := explain(refusal); got != "it failed" {
		t.Errorf("got %q", got)
	}
}
