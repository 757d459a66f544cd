package directory_test

import (
	"testing"

	"labshelf/blobs/directory"
)

func TestFreeSpace(t *testing.T) {
	t.Parallel()
	store, err := directory.Open(t.TempDir(), directory.OS{})
	if err != nil {
		t.Fatal(err)
	}
	free, err := store.FreeSpace()
	if err != nil || free.Bytes <= 0 || free.Files == 0 || free.Files < -1 {
		t.Errorf("%+v, %v, although this test has just created folders", free, err)
	}
}
