//go:build mutant_index

package bolt

// deleteStale is wrong on purpose, to show that the tests of the contract notice: it leaves an entry behind in each index when a
// row is replaced.
func (t *tx) deleteStale(_, _ []entry) {}
