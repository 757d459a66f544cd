package metadatatest_test

import (
	"testing"

	"labshelf/metadata/metadatatest"
	"labshelf/repository/repositorytest"
)

func TestMemoryAgainstItself(t *testing.T) {
	metadatatest.Compare(t, metadatatest.OpenMemory(), "", repositorytest.Purge)
}
