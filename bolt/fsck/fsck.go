// Package fsck reads the pages of a bbolt file itself, and finds deviations from bbolt's format.
// bbolt trusts its file: it maps the file and follows the page numbers in it. So a damaged file can
// end the program with a fault, or make it loop forever, even in bbolt's own check. Package fsck
// reads everything with ReadAt and bounds, and neither panics nor faults.
package fsck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// ErrDamaged means that the file is not a valid bbolt file.
var ErrDamaged = errors.New("the metadata file is damaged")

// Finding is one error in a page.
type Finding struct {
	Page   uint64
	Bucket string // bucket of the page; "": the root bucket, or none
	Wrong  string
}

// branchesAtStart limits the branch pages that Quick reads. It covers all branches up to some ten
// thousand objects, and the roots in any case. Each takes one or two reads, and the time of a start
// must not grow with the data.
const branchesAtStart = 64

// Quick returns ErrDamaged if bbolt cannot follow the pages that a transaction with this meta page
// sees. bbolt would loop forever, without an error, if page numbers form a cycle. Quick reads no
// leaves, and only a bounded number of branches. But if the list of free pages is omitted, it reads
// everything, because bbolt will then read all pages in a goroutine whose panic ends the program.
func Quick(file io.ReaderAt, meta Meta) error {
	w := &walk{file: file, meta: meta, full: meta.Freelist == NoFreelist, budget: branchesAtStart}
	var damaged error
	w.report = func(f Finding) {
		if damaged == nil {
			damaged = fmt.Errorf("%w: page %d %s: %s", ErrDamaged, f.Page, f.Bucket, f.Wrong)
		}
	}
	w.ended = func() error { return damaged }
	if err := w.run(); err != nil {
		return err
	}
	return damaged
}

// Check reports all errors in both meta pages, and in all pages that a transaction with this meta
// page sees. Others may write in the meantime, as long as the transaction is open. Check returns
// the error of the context.
func Check(ctx context.Context, file io.ReaderAt, meta Meta, report func(Finding)) error {
	for id := range uint64(2) {
		if !metaPageValid(file, id, meta.PageSize) {
			report(Finding{id, "", "it is not a valid meta page; the other one is used"})
		}
	}
	w := &walk{file: file, meta: meta, full: true, ended: ctx.Err, report: report}
	return w.run()
}

// metaPageValid reads several times, since the page may be written at the same time.
func metaPageValid(file io.ReaderAt, id uint64, pageSize uint32) bool {
	for range 5 {
		var page [PageHeader]byte
		at := int64(id) * int64(pageSize)
		if _, err := file.ReadAt(page[:], at); err == nil {
			h := Page(page[:]).Header()
			if _, valid := MetaAt(file, at); valid && h.ID == id && h.Flags == MetaPage {
				return true
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}
