package directory

// OneDevice exports the check that Open makes for tmp/, blobs/ and trash/.
func OneDevice(dirs ...string) error { return oneDevice(dirs...) }

// KeepOpenTargets sets whether a failed rename may mean that the target is open, on any system.
func (d *Store) KeepOpenTargets(keeps bool) { d.keepsOpenTargets = keeps }
