//go:build !linux

package servers

import (
	"os"
	"os/exec"
)

// endWithParent does nothing, because only Linux supports it.
func endWithParent(*exec.Cmd, os.Signal) {}

// unprivileged does nothing. The tests must run as an ordinary user.
func unprivileged(*exec.Cmd, ...string) error { return nil }

// killFamily kills the process. The children of a postmaster end when they detect that.
func killFamily(p *process) error {
	_ = p.cmd.Process.Kill() // fails only after its end
	<-p.ended
	return nil
}

func removeShared([]string) {}

// keepsAttributes returns false. On other systems, the server stores object attributes in files.
func keepsAttributes(string) bool { return false }
