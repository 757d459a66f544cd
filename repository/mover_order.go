//go:build !mutant_moveorder

package repository

// inOrder is the order of a move: a power cut between the two leaves the bodies where they are.
func inOrder(files, commit func() error) error {
	if err := files(); err != nil {
		return err
	}
	return commit()
}
