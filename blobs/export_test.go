package blobs

// OneDevice is what OpenDir asks about tmp/, blobs/ and trash/.
func OneDevice(dirs ...string) error { return oneDevice(dirs...) }

// KeepOpenTargets makes d treat a rename that fails as on Windows, where it may mean that the target is open.
func (d *Dir) KeepOpenTargets() { d.keepsOpenTargets = true }
