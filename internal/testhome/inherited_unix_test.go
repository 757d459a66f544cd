//go:build unix

package testhome_test

import (
	"os"
	"os/exec"
	"testing"
)

// TestInheritsNoDescriptors: a test binary that inherits a descriptor does not pass it on to the
// programs that its tests start.
func TestInheritsNoDescriptors(t *testing.T) {
	const child = "TESTHOME_DESCRIPTORS"
	if os.Getenv(child) != "" {
		if out, err := exec.Command("sh", "-c", "echo >&3 || echo >&4").CombinedOutput(); err == nil {
			t.Errorf("a program inherits the descriptors of the tests: %s", out)
		}
		return
	}
	t.Parallel()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	cmd := exec.Command(os.Args[0], "-test.run=^TestInheritsNoDescriptors$")
	cmd.ExtraFiles = []*os.File{null, null}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), child + "=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
