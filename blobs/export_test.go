package blobs

// OneDevice is the check of OpenDir for tmp/, blobs/ and trash/.
func OneDevice(dirs ...string) error { return oneDevice(dirs...) }

// KeepOpenTargets sets whether a failed rename may mean that the target is open, on any system.
func (d *Dir) KeepOpenTargets(keeps bool) { d.keepsOpenTargets = keeps }
