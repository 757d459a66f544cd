package describe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/descriptive"
	"labshelf/formats/spreadsheet"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
	"labshelf/repository/internal/rows"
)

// maxCSVFiles is the maximum number of files in one CSV, without its header row.
const maxCSVFiles = spreadsheet.MaxRows - 1

// ExportMetadata writes the descriptive metadata of the active files of a set as CSV, ordered by
// name. begin is called after all checks and returns the destination. Each row is consistent, but a
// property added during the export may lack a column.
func (s *BulkEdits) ExportMetadata(ctx context.Context, p auth.Principal, set string, separator rune, begin func(metadata.Set) io.Writer) error {
	var columns spreadsheet.Columns
	var ids []metadata.ID
	var of metadata.Set
	err := s.core.Read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		columns, ids = spreadsheet.Columns{}, nil
		resolved, err := core.LookupSet(tx, set, "")
		if err != nil {
			return err
		}
		if err := resolved.Authorise(tx, p, auth.Read); err != nil {
			return err
		}
		if of = resolved.Shown(); of.State == metadata.Deleted {
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
	for err == nil && len(ids) > 0 {
		var files []metadata.Resource
		var done int
		err = s.core.Read(ctx, p, func(tx *metadata.Tx, p auth.Principal) (err error) {
			files, done, err = exported(tx, p, ids[:min(len(ids), core.MaxStep)])
			return err
		})
		ids = ids[done:]
		for _, r := range files {
			var m descriptive.Metadata
			if err == nil {
				m, err = rows.ParseDescriptive(r.Descriptive)
			}
			if err == nil {
				err = w.Write(objectOf(r, m))
			}
		}
	}
	return err
}

// maxExported is the maximum number of bytes of descriptive metadata that one transaction of an
// export reads. It limits the memory of an export.
const maxExported = 256 << 10

// exported reads active files in order, until it has read maxExported bytes. It returns the number
// of ids processed.
func exported(tx *metadata.Tx, p auth.Principal, ids []metadata.ID) (files []metadata.Resource, done int, err error) {
	for bytes := 0; done < len(ids) && bytes < maxExported; done++ {
		resolved, err := core.LookupResource(tx, ids[done].String())
		if err == nil {
			err = resolved.Admit(tx, p, auth.Read)
		}
		if err != nil {
			return nil, 0, err
		}
		r := resolved.Shown()
		if r.State != metadata.Active {
			continue
		}
		bytes += len(r.Descriptive)
		files = append(files, r)
	}
	return files, done, nil
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

// EditByCSV changes the descriptive metadata of files of a set. file is an edited export of
// ExportMetadata. Any problem in the file rejects all of it.
func (s *BulkEdits) EditByCSV(ctx context.Context, p auth.Principal, set string, file []byte, preview bool) (BulkOutcome, error) {
	return s.bulkEdit(ctx, p, set, metadata.EditByCSV, preview, func(tx *metadata.Tx, of core.ResolvedSet, o *BulkOutcome) error {
		r, err := spreadsheet.NewReader(bytes.NewReader(file))
		seen := map[string]bool{}
		for err == nil {
			var line spreadsheet.Line
			if line, err = r.Read(); err != nil {
				break
			}
			o.Rows++
			if o.Rows > MaxEdited {
				o.refuse(spreadsheet.Problem{Row: line.Row, Message: fmt.Sprintf("a file must have at most %d rows in addition to its header", MaxEdited)})
				return nil
			}
			if seen[line.ID] {
				o.refuse(spreadsheet.Problem{Row: line.Row, Column: "id", Message: "a file must not occur twice"})
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

// planLine plans the change of one row.
func (s *BulkEdits) planLine(ctx context.Context, tx *metadata.Tx, of core.ResolvedSet, line spreadsheet.Line, o *BulkOutcome) error {
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
		o.refuse(spreadsheet.Problem{Row: line.Row, Column: "etag", Message: "the file has changed since the table was downloaded; download the table again"})
		return nil
	}
	return s.planFile(ctx, tx, r, before, after, line.Row, o)
}

// ManyFields is one change for one or several files.
type ManyFields struct {
	IDs                 []string
	Metadata            descriptive.Patch
	AddTags, RemoveTags []string
	core.Input
}

// EditMany makes one change to files of a set. It changes all of them or none.
func (s *BulkEdits) EditMany(ctx context.Context, p auth.Principal, set string, f ManyFields, preview bool) (BulkOutcome, error) {
	err := s.MayEdit(ctx, p, set) // check the permission before the fields
	if err == nil {
		err = f.Malformed
	}
	if err == nil && (len(f.IDs) == 0 || len(f.IDs) > MaxEdited) {
		err = core.Invalid("ids", "ids must name one to %d files", MaxEdited)
	}
	if err != nil {
		return BulkOutcome{}, err
	}
	return s.bulkEdit(ctx, p, set, metadata.EditOfMany, preview, func(tx *metadata.Tx, of core.ResolvedSet, o *BulkOutcome) error {
		ids := slices.Compact(slices.Sorted(slices.Values(f.IDs)))
		for _, id := range ids {
			o.Rows++
			r, found, err := fileOf(tx, of, id)
			if err != nil {
				return err
			}
			if !found {
				o.refuse(spreadsheet.Problem{Column: "ids", Message: core.Shorten(id) + " is not an active file of the set"})
				continue
			}
			before, after, err := f.change(r.Descriptive)
			if wrong, is := errors.AsType[*errs.Error](err); is && wrong.Kind == errs.Invalid {
				o.refuse(spreadsheet.Problem{Column: wrong.Field, Message: core.Shorten(r.Name) + ": " + wrong.Message})
				continue
			}
			if err == nil {
				err = s.planFile(ctx, tx, r, before, after, 0, o)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// change returns the metadata of a file before and after the change.
func (f ManyFields) change(stored string) (before, after descriptive.Metadata, err error) {
	if before, err = rows.ParseDescriptive(stored); err != nil {
		return before, after, err
	}
	if err := Describe(descriptive.Resource, &stored, f.Metadata, false); err != nil {
		return before, after, err
	}
	if after, err = rows.ParseDescriptive(stored); err != nil {
		return before, after, err
	}
	after.Tags = slices.DeleteFunc(slices.Clone(after.Tags), func(tag string) bool { return slices.Contains(f.RemoveTags, tag) })
	for _, tag := range f.AddTags {
		if !slices.Contains(after.Tags, tag) {
			after.Tags = append(after.Tags, tag)
		}
	}
	return before, after, descriptiveError(after.Validate(descriptive.Resource))
}
