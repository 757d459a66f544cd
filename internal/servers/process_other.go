//go:build !linux

package servers

import (
	"os"
	"os/exec"
)

// endWithParent does nothing: only Linux can do it.
func endWithParent(*exec.Cmd, os.Signal) {}

// unprivileged leaves a command to the user that runs the tests, who is not to be root.
func unprivileged(*exec.Cmd, ...string) error { return nil }

// killFamily ends the process; children of a postmaster end when they find it gone.
func killFamily(p *process) error {
	_ = p.cmd.Process.Kill() // fails only where it has ended
	<-p.ended
	return nil
}

func removeShared([]string) {}

// keepsAttributes: the other systems keep the attributes of objects in files of their own.
func keepsAttributes(string) bool { return false }
