//go:build !mutant_lateaccess

package bolt

// changeAccess is called before a commit that changes what decides access can be seen, and what it returns once the outcome is
// known and before anybody hears of it. A commit that failed counts as well: some of it may be there.
func (c *committer) changeAccess() (done func()) {
	c.access.Add(1)
	return func() { c.access.Add(1) }
}
