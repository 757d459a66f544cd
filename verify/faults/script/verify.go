package script

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/maintenance"
)

const (
	pagingActive = paging.Active
	pagingOldest = paging.Oldest
)

func digestOf(r io.Reader) (d blobs.Digest, err error) {
	hash := sha256.New()
	_, err = io.Copy(hash, r)
	hash.Sum(d[:0])
	return d, err
}

// settleLimit is the maximum time until running cascades, flushes and removals end.
const settleLimit = 10 * time.Second

// settle waits until no cascade is running, no body is inline, and no partial file of a finished
// upload remains. It polls the tables that the following check reads.
func (w *stores) settle(ctx context.Context) error {
	for deadline := time.Now().Add(settleLimit); time.Now().Before(deadline); time.Sleep(200 * time.Microsecond) {
		pending := 0
		err := w.store.View(ctx, func(tx *metadata.Tx) error {
			return each(tx.Cascades.All(metadata.ID{}), func(metadata.Cascade) error { pending++; return nil })
		})
		inline, failed := w.inlineBodies(ctx)
		strays, unread := w.strays(ctx)
		if err = errors.Join(err, failed, unread); err != nil || pending == 0 && inline == 0 && strays == 0 {
			return err
		}
	}
	return errors.New("cascades, flushes or removals have not ended")
}

// Verify opens the directory of a crash twice, and returns all problems: unexpected data, violated
// invariants, temporary files, and changes by the second opening. It closes the stores.
func Verify(ctx context.Context, dir string, expected Expected) (wrong []string, err error) {
	found, wrong, err := inspect(ctx, dir)
	if err != nil {
		return []string{"the stores cannot be opened: " + err.Error()}, nil
	}
	wrong = append(wrong, expected.Differences(found)...)
	left, err := Leftovers(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range left {
		wrong = append(wrong, "remaining temporary file: "+name)
	}
	modes, before, err := tree(dir)
	if err != nil {
		return nil, err
	}
	wrong = append(wrong, modes...)
	if err := Recover(ctx, dir); err != nil {
		return append(wrong, "the stores cannot be opened a second time: "+err.Error()), nil
	}
	_, after, err := tree(dir)
	if err != nil {
		return nil, err
	}
	for name, sum := range after {
		if before[name] != sum {
			wrong = append(wrong, "opening it a second time changes "+name)
		}
	}
	if len(after) < len(before) {
		wrong = append(wrong, fmt.Sprintf("opening it a second time removes files: %d remain of %d", len(after), len(before)))
	}
	return wrong, nil
}

// inspect opens the stores, waits for background work and runs the check.
func inspect(ctx context.Context, dir string) (found State, wrong []string, err error) {
	w := &stores{dir: dir}
	if err := w.open(); err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.settle(ctx); err != nil {
		return nil, nil, err
	}
	events := maintenance.CheckEvents{
		Violation: func(v metadata.Violation) { wrong = append(wrong, v.String()) },
		Progress:  func(int64, int64) {},
	}
	if _, err := maintenance.NewUpkeep(w.store, w.files).Check(ctx, maintenance.CheckOptions{}, events); err != nil {
		wrong = append(wrong, "check: "+err.Error())
	}
	lost, err := w.lostChunks(ctx)
	if err != nil {
		return nil, nil, err
	}
	wrong = append(wrong, lost...)
	found, err = Read(ctx, w.store)
	return found, wrong, err
}

// tree returns a checksum of every file in a directory, and the modes that are too permissive.
func tree(dir string) (wrong []string, sums map[string]uint32, err error) {
	sums = map[string]uint32{}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name := strings.TrimPrefix(path, dir+string(filepath.Separator))
		info, err := e.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			wrong = append(wrong, fmt.Sprintf("%s has mode %v", name, info.Mode()))
		}
		if !e.Type().IsRegular() {
			return nil
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		sum := crc32.New(crc32.MakeTable(crc32.Castagnoli)) // fast, and sufficient against accidents
		_, err = io.Copy(sum, file)
		sums[name] = sum.Sum32()
		return errors.Join(err, file.Close())
	})
	return wrong, sums, err
}
