package repository

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"labshelf/auth"
	"labshelf/descriptive"
	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/internal/rows"
	"labshelf/spreadsheet"
)

// maxCSVFiles is how many files one CSV has: the header is a row, too.
const maxCSVFiles = spreadsheet.MaxRows - 1

// ExportMetadata writes the descriptive metadata of the active files of a set as CSV, in the order of their names. begin is called when all that can be
// refused has been. Each row is of one state; what gets a new property meanwhile may be without its column.
func (s *Service) ExportMetadata(ctx context.Context, p auth.Principal, set string, separator rune, begin func(metadata.Set) io.Writer) error {
	var columns spreadsheet.Columns
	var ids []metadata.ID
	var of metadata.Set
	err := s.view(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		columns, ids = spreadsheet.Columns{}, nil
		resolved, err := lookupSet(tx, set, "")
		if err != nil {
			return err
		}
		if err := authorise(tx, p, resolved.dataspace, auth.Read); err != nil {
			return err
		}
		if of = resolved.shown(); of.State == metadata.Deleted {
			return nil
		}
		for r, err := range tx.Resources.Range(metadata.ResourceRange{Set: of.ID, States: paging.States(metadata.Active), Order: paging.ByName}) {
			if err = errors.Join(err, ctx.Err()); err != nil {
				return err
			}
			m, err := describedMetadata(tx, &r)
			if err != nil {
				return err
			}
			columns.Add(m)
			if ids = append(ids, r.ID); len(ids) > maxCSVFiles {
				return &errs.Error{Kind: errs.TooLarge, Code: errs.CodeTooLarge, Message: fmt.Sprintf("the set has more than %d files", maxCSVFiles)}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	w, err := spreadsheet.NewWriter(begin(of), columns, separator)
	for step := range slices.Chunk(ids, maxStep) {
		var objects []spreadsheet.Object
		err = errors.Join(err, s.view(ctx, p, func(tx *metadata.Tx, p auth.Principal) (err error) {
			objects, err = exported(tx, p, step)
			return err
		}))
		for _, o := range objects {
			if err == nil {
				err = w.Write(o)
			}
		}
		if err != nil {
			return err
		}
	}
	return err
}

// exported reads files, as far as they are still active.
func exported(tx *metadata.Tx, p auth.Principal, ids []metadata.ID) (objects []spreadsheet.Object, err error) {
	for _, id := range ids {
		resolved, err := lookupResource(tx, id.String())
		if err == nil {
			err = resolved.admit(tx, p, auth.Read)
		}
		if err != nil {
			return nil, err
		}
		r := resolved.shown()
		if r.State != metadata.Active {
			continue
		}
		m, err := rows.ParseDescriptive(r.Descriptive)
		if err != nil {
			return nil, err
		}
		objects = append(objects, objectOf(r, m))
	}
	return objects, nil
}

func objectOf(r metadata.Resource, m descriptive.Metadata) spreadsheet.Object {
	return spreadsheet.Object{ID: r.ID.String(), ETag: r.Tag(), Name: r.Name, Metadata: m}
}

func describedMetadata(tx *metadata.Tx, r *metadata.Resource) (descriptive.Metadata, error) {
	if err := rows.Described(tx, r.ID, &r.Descriptive); err != nil {
		return descriptive.Metadata{}, err
	}
	return rows.ParseDescriptive(r.Descriptive)
}

// EditByCSV changes the descriptive metadata of files of a set by a file that ExportMetadata wrote and people have edited. It is checked whole
// first; a problem anywhere refuses all of it.
func (s *Service) EditByCSV(ctx context.Context, p auth.Principal, set string, file []byte, preview bool) (BulkOutcome, error) {
	return s.bulkEdit(ctx, p, set, metadata.EditByCSV, preview, func(tx *metadata.Tx, of resolvedSet, o *BulkOutcome) error {
		r, err := spreadsheet.NewReader(bytes.NewReader(file))
		seen := map[string]bool{}
		for err == nil {
			var line spreadsheet.Line
			if line, err = r.Read(); err != nil {
				break
			}
			o.Rows++
			if o.Rows > MaxEdited {
				o.refuse(spreadsheet.Problem{Row: line.Row, Message: fmt.Sprintf("a file must have at most %d rows besides its header", MaxEdited)})
				return nil
			}
			if seen[line.ID] {
				o.refuse(spreadsheet.Problem{Row: line.Row, Column: "id", Message: "a file must not be there twice"})
				continue
			}
			seen[line.ID] = true
			if err := s.planLine(ctx, tx, of, line, o); err != nil {
				return err
			}
		}
		if wrong, is := errors.AsType[*spreadsheet.Problem](err); is {
			o.refuse(*wrong)
			return nil
		}
		if err != io.EOF {
			return err
		}
		o.refuse(r.Problems()...)
		return nil
	})
}

// planLine adds what one row is to change.
func (s *Service) planLine(ctx context.Context, tx *metadata.Tx, of resolvedSet, line spreadsheet.Line, o *BulkOutcome) error {
	r, found, err := fileOf(tx, of, line.ID)
	if err != nil {
		return err
	}
	if !found {
		o.refuse(spreadsheet.Problem{Row: line.Row, Column: "id", Message: "there is no active file with this id in the set"})
		return nil
	}
	before, err := rows.ParseDescriptive(r.Descriptive)
	if err != nil {
		return err
	}
	after, problems := line.Edit(objectOf(r, before), descriptive.Resource)
	if len(problems) > 0 {
		o.refuse(problems...)
		return nil
	}
	if !after.Equal(before) && line.ETag != r.Tag() {
		o.stale = true
		o.refuse(spreadsheet.Problem{Row: line.Row, Column: "etag", Message: "the file was changed since this was downloaded; download it again"})
		return nil
	}
	return o.add(r, before, after, line.Row)
}
