package e2e

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// Limits for the bytes that one package allocates when the program starts. Every command has this
// cost. Larger tables and expressions of this module are created at their first use.
const (
	maxInitialized = 32_000  // for packages of this module
	maxOfLibrary   = 300_000 // for packages of libraries; the largest is minio-go
)

// TestStartInitializesLittle runs the shortest command and reads the runtime's trace of package
// initialization, with lines such as "init labshelf/cli @1.5 ms, 0.18 ms clock, 45848 bytes, 210
// allocs".
func TestStartInitializesLittle(t *testing.T) {
	t.Parallel()
	path, err := program()
	check(t, err)
	cmd := exec.CommandContext(t.Context(), path, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	cmd.Stderr = &trace
	check(t, cmd.Run())
	measured := 0
	for line := range strings.Lines(trace.String()) {
		fields := strings.Fields(line)
		if len(fields) < 9 || fields[0] != "init" {
			continue
		}
		most := maxOfLibrary
		if strings.HasPrefix(fields[1], "labshelf/") {
			most = maxInitialized
			measured++
		}
		allocated, err := strconv.Atoi(fields[7])
		check(t, err)
		if allocated > most {
			t.Errorf("%s allocates %d bytes at start, want at most %d", fields[1], allocated, most)
		}
	}
	if measured == 0 {
		t.Fatalf("no package of this module in the trace:\n%s", trace.String())
	}
}
