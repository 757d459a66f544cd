package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.etcd.io/bbolt"

	"labshelf/metadata"
)

// branchesAtStart is how many branch pages are read before a file is used: all of them up to some ten thousand objects, and the
// roots in any case. Each takes one or two reads, of 0.15 ms where the disk has to be asked, and a start is not to take longer the
// more there is. A check reads the rest.
const branchesAtStart = 64

// checkTrees returns an ErrDamaged if the way through the pages is not one that bbolt can go: it follows page numbers without
// end where they lead in circles, and no error comes of that. The leaves are not read; see Inspect.
func (s *Store) checkTrees() error {
	return inspect(s.db, func(t *tx) error {
		meta, err := metaOf(t.bolt)
		if err != nil {
			return err
		}
		// Where there is no list of free pages, bbolt will go over all pages, in a goroutine whose panic ends the program.
		w := &pageWalk{file: s.file, meta: meta, full: meta.freelist == noFreelist, budget: branchesAtStart}
		var damaged error
		w.found = func(id uint64, in, wrong string) {
			if damaged == nil {
				damaged = fmt.Errorf("%w: page %d %s: %s", ErrDamaged, id, in, wrong)
			}
		}
		w.ended = func() error { return damaged }
		if err := w.run(); err != nil {
			return err
		}
		return damaged
	})
}

// inspectPages reports what is wrong with the meta pages, and with the pages that a transaction sees.
func (s *Store) inspectPages(ctx context.Context, t *tx, report func(metadata.Violation)) error {
	meta, err := metaOf(t.bolt)
	if err != nil {
		return err
	}
	found := func(id uint64, in, wrong string) {
		report(metadata.Violation{
			Part: metadata.PartPages, Kind: "page", ID: strconv.FormatUint(id, 10), Name: in, Wrong: wrong,
		})
	}
	for id := range uint64(2) {
		if !s.metaPageValid(id, meta.pageSize) {
			found(id, "", "it is no valid meta page; the other one is used")
		}
	}
	w := &pageWalk{file: s.file, meta: meta, full: true, ended: ctx.Err, found: found}
	return w.run()
}

// metaPageValid looks more than once, since the page may be written at this moment.
func (s *Store) metaPageValid(id uint64, pageSize uint32) bool {
	for range 5 {
		var page [pageHeader]byte
		at := int64(id) * int64(pageSize)
		if _, err := s.file.ReadAt(page[:], at); err == nil {
			h := headerOf(page[:])
			if _, valid := fileMetaAt(s.file, at); valid && h.id == id && h.flags == metaPage {
				return true
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// metaOf returns the meta data of a transaction, which those in the file need no longer be: the first page of a copy.
func metaOf(btx *bbolt.Tx) (fileMeta, error) {
	var first firstPage
	if _, err := btx.WriteTo(&first); first == nil {
		return fileMeta{}, err
	}
	meta, ok := fileMetaAt(bytes.NewReader(first), 0)
	if !ok {
		return meta, fmt.Errorf("%w: no valid meta data", metadata.ErrRecordDamaged)
	}
	return meta, nil
}

// firstPage keeps what is written to it first, and takes no more.
type firstPage []byte

var errEnough = errors.New("enough")

func (p *firstPage) Write(page []byte) (int, error) {
	*p = bytes.Clone(page)
	return 0, errEnough
}
