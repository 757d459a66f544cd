//go:build mutant_moveorder

package repository

// inOrder is wrong on purpose, to show that the tests notice: it forgets the bodies before there are files of them.
func inOrder(files, commit func() error) error {
	if err := commit(); err != nil {
		return err
	}
	return files()
}
