// Package fscktest locates the parts of an intact bbolt file, so that tests can damage them.
package fscktest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"

	"labshelf/bolt/fsck"
)

// Used returns the used part of a file.
func Used(file []byte) []byte {
	m, ok := fsck.ReadMeta(bytes.NewReader(file))
	if !ok {
		panic("no meta page")
	}
	return file[:m.Past*uint64(m.PageSize)]
}

// Findings returns the findings of Check in a file.
func Findings(file []byte) (found []string) {
	m, _ := fsck.ReadMeta(bytes.NewReader(file))
	report := func(f fsck.Finding) { found = append(found, fmt.Sprintf("page %d %s: %s", f.Page, f.Bucket, f.Wrong)) }
	_ = fsck.Check(context.Background(), bytes.NewReader(file), m, report) // the context does not end
	return found
}

// Pages yields the used pages after the meta pages, with their overflow pages. The file must have a
// list of free pages.
func Pages(file []byte) iter.Seq2[int, fsck.Page] {
	m, _ := fsck.ReadMeta(bytes.NewReader(file))
	size := int(m.PageSize)
	free := map[uint64]bool{}
	list := fsck.Page(file[int(m.Freelist)*size:])
	for i := range int(list.Header().Count) {
		free[binary.NativeEndian.Uint64(list[fsck.PageHeader+8*i:])] = true
	}
	return func(yield func(int, fsck.Page) bool) {
		for id := 2; id < int(m.Past); id++ {
			if free[uint64(id)] {
				continue
			}
			page := fsck.Page(file[id*size:])
			last := id + int(page.Header().Overflow)
			if !yield(id, page[:(last+1-id)*size]) {
				return
			}
			id = last
		}
	}
}

// Contents returns the offsets of the bytes of a file that have a meaning. It omits the unused ends
// of pages, and free pages. structure contains the offsets of the bytes that determine the
// traversal of the pages.
func Contents(file []byte) (all, structure []int) {
	m, _ := fsck.ReadMeta(bytes.NewReader(file))
	size := int(m.PageSize)
	add := func(to []int, begin, end int) []int {
		for at := begin; at < end; at++ {
			to = append(to, at)
		}
		return to
	}
	for id, page := range Pages(file) {
		h := page.Header()
		end := fsck.PageHeader + 8*int(h.Count)
		if h.Flags != fsck.FreelistPage {
			length, _ := page.Size()
			end = int(length)
		}
		structural := end
		if h.Flags == fsck.LeafPage {
			structural = fsck.PageHeader
		}
		all, structure = add(all, id*size, id*size+end), add(structure, id*size, id*size+structural)
	}
	for _, meta := range []int{0, size} {
		all = add(all, meta, meta+10) // number and flags of the meta page
		all = add(all, meta+fsck.PageHeader, meta+fsck.PageHeader+fsck.MetaSize)
	}
	return all, structure
}

// Circles yields copies of a file in which one branch points to itself or back to the root, with a
// description. It yields nothing for a file without branches.
func Circles(file []byte) iter.Seq2[string, []byte] {
	m, _ := fsck.ReadMeta(bytes.NewReader(file))
	return func(yield func(string, []byte) bool) {
		for id, page := range Pages(file) {
			if page.Header().Flags != fsck.BranchPage {
				continue
			}
			for _, to := range []uint64{uint64(id), m.Root} {
				damaged := bytes.Clone(file)
				binary.NativeEndian.PutUint64(damaged[id*int(m.PageSize)+fsck.PageHeader+8:], to)
				if !yield(fmt.Sprintf("page %d leads to %d", id, to), damaged) {
					return
				}
			}
		}
	}
}
