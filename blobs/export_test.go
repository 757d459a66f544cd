package blobs

// OneDevice is what OpenDir asks about tmp/, blobs/ and trash/.
func OneDevice(dirs ...string) error { return oneDevice(dirs...) }

// KeepOpenTargets tells d whether a rename that fails may mean that the target is open, whatever
// the system it runs on.
func (d *Dir) KeepOpenTargets(keeps bool) { d.keepsOpenTargets = keeps }
