//go:build mutant_lateaccess

package bolt

// changeAccess is wrong on purpose, to show that the tests notice: what was read while such a commit was under way, of the rows
// before it, counts afterwards.
func (c *committer) changeAccess() (done func()) {
	c.access.Add(2)
	return func() {}
}
