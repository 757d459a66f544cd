package describe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/formats/descriptive"
	"labshelf/formats/spreadsheet"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

// BulkEdits changes the descriptive metadata of many files at a time. It is safe for concurrent
// use.
type BulkEdits struct {
	core         *core.Core
	descriptions *Descriptions
}

// NewBulkEdits returns the bulk edits of a repository.
func NewBulkEdits(core *core.Core, descriptions *Descriptions) *BulkEdits {
	return &BulkEdits{core: core, descriptions: descriptions}
}

// Bounds of bulk edits.
const (
	MaxEdited = 20_000 // maximum number of files of one bulk edit
	maxShown  = 100    // maximum number of changes, problems or bulk edits in one response
)

// FieldChange is one member or property before and after a change.
type FieldChange = descriptive.Change

// BulkChange is the change of one file, planned or done.
type BulkChange struct {
	ID      metadata.ID
	Name    string
	Changes []FieldChange
	tag     string // of the version that the plan is for
	row     int
}

// BulkProblem is the reason why a row is rejected or a file was not changed.
type BulkProblem = spreadsheet.Problem

// BulkOutcome is the result of a bulk edit, or of its preview.
type BulkOutcome struct {
	Edit                     *metadata.BulkEdit // nil if nothing was changed
	Rows, Changed, Unchanged int
	Changes                  []BulkChange          // at most maxShown
	Problems                 []spreadsheet.Problem // at most maxShown
	stale                    bool                  // a row has the ETag of an older version
	problems                 int
	plan                     []BulkChange
}

// fileOf reads an active file of a set, with its descriptive metadata.
func fileOf(tx *metadata.Tx, of core.ResolvedSet, id string) (r metadata.Resource, found bool, err error) {
	row, err := core.ByID(tx.Resources.Get, id)
	if errors.Is(err, metadata.ErrNotFound) || err == nil && row.SetID != of.ID {
		return r, false, nil
	}
	r = core.ResolvedResource{Resource: row, Set: of}.Shown()
	if err != nil || r.State != metadata.Active {
		return r, false, err
	}
	return r, true, rows.Described(tx, r.ID, &r.Descriptive)
}

// refuse adds problems. It keeps at most maxShown of them.
func (o *BulkOutcome) refuse(problems ...spreadsheet.Problem) {
	o.problems += len(problems)
	o.Problems = append(o.Problems, problems[:min(len(problems), maxShown-len(o.Problems))]...)
}

// planFile plans the change of one file by a person, if the schema of the file allows it.
func (s *BulkEdits) planFile(ctx context.Context, tx *metadata.Tx, r metadata.Resource, before, after descriptive.Metadata, row int, o *BulkOutcome) error {
	after.KeepSources(before)
	stored := r.Descriptive
	r.Descriptive = textOf(after)
	err := s.descriptions.Conform(ctx, tx, OfResource(stored, &r))
	if wrong, is := errors.AsType[*errs.Error](err); is && wrong.Kind == errs.Invalid {
		o.refuse(BulkProblem{Row: row, Column: strings.TrimPrefix(wrong.Field, descriptive.Root+"."), Message: core.Shorten(r.Name) + ": " + wrong.Message})
		return nil
	}
	if err == nil {
		after, err = rows.ParseDescriptive(r.Descriptive)
	}
	if err != nil {
		return err
	}
	changes := descriptive.Changes(before, after)
	if len(changes) == 0 {
		o.Unchanged++
		return nil
	}
	o.plan = append(o.plan, BulkChange{ID: r.ID, Name: r.Name, Changes: changes, tag: r.Tag(), row: row})
	return nil
}

// refusal returns the error of an outcome with problems.
func (o *BulkOutcome) refusal() error {
	if o.problems == 0 {
		return nil
	}
	message := o.Problems[0].Error()
	if o.problems > 1 {
		message += fmt.Sprintf(", and %d more; a preview shows them", o.problems-1)
	}
	if o.stale {
		return core.PreconditionFailed(message)
	}
	return core.Invalid(o.Problems[0].Column, "%s", message)
}

// bulkEdit plans a bulk edit of a set in one transaction, and carries it out unless it is a
// preview.
func (s *BulkEdits) bulkEdit(ctx context.Context, p auth.Principal, set string, kind metadata.EditKind, preview bool, plan func(*metadata.Tx, core.ResolvedSet, *BulkOutcome) error) (o BulkOutcome, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		o = BulkOutcome{}
		resolved, err := editableSet(tx, p, set)
		if err != nil {
			return err
		}
		return plan(tx, resolved, &o)
	})
	if err != nil {
		return o, err
	}
	o.Changes = o.plan[:min(len(o.plan), maxShown)]
	if preview {
		o.Changed = len(o.plan)
		return o, nil
	}
	if err := o.refusal(); err != nil {
		return o, err
	}
	return o, s.carryOut(ctx, p, set, metadata.BulkEdit{Kind: kind}, &o)
}

// MayEdit returns an error if the caller is not allowed to edit the files of a set, whatever the
// edit.
func (s *BulkEdits) MayEdit(ctx context.Context, p auth.Principal, set string) error {
	return s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		_, err := editableSet(tx, p, set)
		return err
	})
}

// editableSet reads a set whose files the caller may change.
func editableSet(tx *metadata.Tx, p auth.Principal, id string) (core.ResolvedSet, error) {
	resolved, err := core.LookupSet(tx, id, "")
	if err == nil {
		err = resolved.Authorise(tx, p, auth.Write)
	}
	if err == nil && resolved.Shown().State == metadata.Deleted {
		err = core.Conflict(errs.CodeDeleted, "", "the set is deleted; restore it first")
	}
	return resolved, err
}

// carryOut makes the planned changes in atomic steps. The first step that changes a file records
// the bulk edit, and each step updates its count. Files that have changed in the meantime are
// skipped and reported. If all are skipped, no bulk edit is recorded. An error after a commit says
// how many files were changed.
func (s *BulkEdits) carryOut(ctx context.Context, p auth.Principal, set string, edit metadata.BulkEdit, o *BulkOutcome) error {
	ctx, operation := storage.Begin(ctx)
	err := s.editSteps(ctx, p, set, edit, o)
	return operation.Outcome(err, fmt.Sprintf("changes of %d files, which the last bulk edit of the set lists", o.Changed))
}

// editSteps makes the planned changes for carryOut.
func (s *BulkEdits) editSteps(ctx context.Context, p auth.Principal, set string, edit metadata.BulkEdit, o *BulkOutcome) error {
	for step := range slices.Chunk(o.plan, core.MaxStep) {
		var changed []uint64
		var problems []spreadsheet.Problem
		var begun metadata.BulkEdit
		err := s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) (err error) {
			if begun = edit; begun.ID == (metadata.ID{}) {
				err = beginEdit(tx, p, set, step, &begun)
			}
			if err == nil {
				changed, problems, err = s.step(tx, p, set, begun, step)
			}
			return err
		})
		if err != nil {
			return err
		}
		edit = begun
		o.Changed += len(changed)
		o.refuse(problems...)
	}
	if edit.ID == (metadata.ID{}) {
		return nil
	}
	return s.core.View(ctx, p, func(tx *metadata.Tx, _ auth.Principal) error {
		done, err := tx.Edits.Get(edit.ID)
		o.Edit = &done
		return err
	})
}

// beginEdit records a bulk edit if the step changes any file.
func beginEdit(tx *metadata.Tx, p auth.Principal, set string, step []BulkChange, edit *metadata.BulkEdit) error {
	of, err := editableSet(tx, p, set)
	if err != nil {
		return err
	}
	for _, c := range step {
		r, found, err := fileOf(tx, of, c.ID.String())
		if err != nil {
			return err
		}
		if found && r.Tag() == c.tag {
			return rows.BeginEdit(tx, rows.Change{By: p}, of.Set, edit)
		}
	}
	return nil
}

// step changes the files of one step and returns the numbers of their entries.
func (s *BulkEdits) step(tx *metadata.Tx, p auth.Principal, set string, edit metadata.BulkEdit, step []BulkChange) (changed []uint64, problems []spreadsheet.Problem, err error) {
	of, err := editableSet(tx, p, set)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range step {
		r, found, err := fileOf(tx, of, c.ID.String())
		if err != nil {
			return nil, nil, err
		}
		if !found || r.Tag() != c.tag {
			problems = append(problems, spreadsheet.Problem{Row: c.row, Message: core.Shorten(c.Name) + " was not changed: somebody has changed it in the meantime"})
			continue
		}
		m, err := rows.ParseDescriptive(r.Descriptive)
		if err == nil {
			m, err = changedBy(m, c.Changes)
		}
		if err != nil {
			return nil, nil, err
		}
		resolved := core.ResolvedResource{Resource: r, Set: of}
		resolved.Descriptive, r.Descriptive = r.Descriptive, textOf(m)
		if err := resolved.Write(tx, rows.Change{By: p, Action: audit.ResourceEdit, Cause: edit.Entry}, &r); err != nil {
			return nil, nil, err
		}
		changed = append(changed, r.Entry)
	}
	return changed, problems, rows.RecordEdited(tx, edit.ID, changed...)
}

// changedBy applies changes of members and top-level properties.
func changedBy(m descriptive.Metadata, changes []descriptive.Change) (descriptive.Metadata, error) {
	for _, value := range []func(descriptive.Change) string{func(descriptive.Change) string { return "" }, func(c descriptive.Change) string { return c.After }} {
		members, properties := map[string]json.RawMessage{}, map[string]json.RawMessage{}
		for _, c := range changes {
			into, name := members, c.Name
			if property, is := strings.CutPrefix(c.Name, "properties."); is {
				into, name = properties, property
			}
			if into[name] = json.RawMessage(value(c)); value(c) == "" {
				into[name] = json.RawMessage("null")
			}
		}
		if len(properties) > 0 {
			members["properties"], _ = json.Marshal(properties) // the values are valid JSON
		}
		patch, err := json.Marshal(members)
		if err == nil {
			m, err = m.Merge(patch)
		}
		if err != nil {
			return m, err
		}
	}
	return m, nil
}

// Undo restores the descriptive metadata that files had before a bulk edit. It skips and
// reports files that have changed since. The undo is a bulk edit itself.
func (s *BulkEdits) Undo(ctx context.Context, p auth.Principal, id string) (o BulkOutcome, err error) {
	var undone metadata.BulkEdit
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		o = BulkOutcome{}
		if undone, err = lookupEdit(tx, p, id, auth.Write); err != nil {
			return err
		}
		of, err := editableSet(tx, p, undone.SetID.String())
		if err != nil {
			return err
		}
		for e, err := range tx.EditEntries.From(metadata.EditEntry{EditID: undone.ID}) {
			if err = errors.Join(err, ctx.Err()); err == nil {
				err = o.planUndo(tx, of, e.Number)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return o, err
	}
	o.Changes = o.plan[:min(len(o.plan), maxShown)]
	return o, s.carryOut(ctx, p, undone.SetID.String(), metadata.BulkEdit{Kind: metadata.EditUndo, Undoes: undone.ID}, &o)
}

// planUndo plans to revert the change that one entry of the audit log records.
func (o *BulkOutcome) planUndo(tx *metadata.Tx, of core.ResolvedSet, number uint64) error {
	o.Rows++
	e, err := core.ReadAuditEntry(tx, number)
	if err != nil {
		return err
	}
	r, found, err := fileOf(tx, of, metadata.ID(e.Object.ID).String())
	if err != nil {
		return err
	}
	changes, err := undoing(e.TextsNow)
	if !found || r.Entry != number || err != nil || e.Erased && e.TextsNow == "" {
		name := r.Name
		if !found {
			name = metadata.ID(e.Object.ID).String()
		}
		o.refuse(spreadsheet.Problem{Message: core.Shorten(name) + " was not changed: somebody has changed or deleted it since"})
		return nil
	}
	o.plan = append(o.plan, BulkChange{ID: r.ID, Name: r.Name, Changes: changes, tag: r.Tag()})
	return nil
}

// undoing returns the changes that revert the changes of descriptive metadata in the texts of an
// entry.
func undoing(texts string) (changes []descriptive.Change, err error) {
	var said map[string]json.RawMessage
	if err := json.Unmarshal([]byte(texts), &said); err != nil {
		return nil, err
	}
	for _, field := range slices.Sorted(maps.Keys(said)) {
		name, is := strings.CutPrefix(field, descriptive.Root+".")
		if !is {
			continue
		}
		var text struct{ Before, Now string }
		if json.Unmarshal(said[field], &text.Now) != nil {
			if err := json.Unmarshal(said[field], &text); err != nil {
				return nil, err
			}
		}
		changes = append(changes, descriptive.Change{Name: name, Before: text.Now, After: text.Before})
	}
	return changes, nil
}
