package blobs_test

import (
	"testing"

	"labshelf/blobs"
)

func TestRoom(t *testing.T) {
	t.Parallel()
	store, err := blobs.OpenDir(t.TempDir(), blobs.OS{})
	if err != nil {
		t.Fatal(err)
	}
	room, err := store.Room()
	if err != nil || room.Bytes <= 0 || room.Files == 0 || room.Files < -1 {
		t.Errorf("%+v, %v, where this test has just made folders", room, err)
	}
}
