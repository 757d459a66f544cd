package maintenance_test

import (
	"testing"

	"labshelf/repository"
	"labshelf/repository/repositorytest"
)

// kept is a repository with its files on disk, to break and to maintain them.
type kept struct{ *repositorytest.Disk }

func newKept(t *testing.T, config repository.Config, counts ...int) *kept {
	t.Helper()
	return &kept{repositorytest.NewDisk(t, config, counts...)}
}
