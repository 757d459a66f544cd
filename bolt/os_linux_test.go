package bolt

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"labshelf/metadata"
)

// TestWrittenPagesLeaveMemory tests that pages that were read do not stay in memory during commits.
func TestWrittenPagesLeaveMemory(t *testing.T) {
	s := openStore(t)
	const bodies, size = 64, 1 << 20
	key := func(i int) metadata.VersionKey { return metadata.VersionKey{Version: uint32(i)} }
	each := func(do func(*metadata.Tx, metadata.VersionKey) error) func(*metadata.Tx) error {
		return func(tx *metadata.Tx) error {
			for i := range bodies {
				if err := do(tx, key(i)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	body := make([]byte, size)
	for i := range body {
		body[i] = byte(i)
	}
	put := func(tx *metadata.Tx, of metadata.VersionKey) error { return tx.InlineBodies.Put(of, body) }
	if err := s.Update(t.Context(), each(put)); err != nil {
		t.Fatal(err)
	}
	read := func(tx *metadata.Tx, of metadata.VersionKey) error { _, err := tx.InlineBodies.Get(of); return err }
	if err := s.View(t.Context(), each(read)); err != nil {
		t.Fatal(err)
	}
	before := mappedMemory(t)
	if err := s.Update(t.Context(), each(put)); err != nil {
		t.Fatal(err)
	}
	if after := mappedMemory(t); before-after < bodies*size/2 {
		t.Errorf("of %d MiB mapped memory, %d remain", before>>20, after>>20)
	}
}

// mappedMemory returns the resident bytes of mapped files, including files in memory.
func mappedMemory(t *testing.T) (bytes int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range regexp.MustCompile(`Rss(?:File|Shmem):\s+(\d+) kB`).FindAllSubmatch(status, -1) {
		kib, err := strconv.Atoi(string(line[1]))
		if err != nil {
			t.Fatal(err)
		}
		bytes += kib << 10
	}
	return bytes
}
