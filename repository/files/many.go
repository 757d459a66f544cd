package files

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/internal/rows"
)

// maxMany is the maximum number of files that one request can change.
const maxMany = 1000

// ManyResult is the result for one of many files.
type ManyResult struct {
	ID      string            // as in the request
	Arrived metadata.Resource // after a copy or a move: the file at the destination
	Refused *errs.Error       // nil on success
	Already bool              // nothing to do: already deleted, active, or at the destination
}

// Many describes a change of many files.
type Many struct {
	Action ManyAction
	IDs    []string
	SetID  string  // the set that files are copied or moved to; "" for the same set
	Folder *string // the destination folder; nil keeps the folder of each file
	core.Input
}

// checkIDs returns an error for too many or duplicate ids. It does not check nil ids.
func (m Many) checkIDs() error {
	if m.IDs == nil {
		return nil
	}
	if len(m.IDs) == 0 || len(m.IDs) > maxMany {
		return core.Invalid("ids", "ids must name from 1 to %d files; there are %d", maxMany, len(m.IDs))
	}
	seen := make(map[string]bool, len(m.IDs))
	for _, id := range m.IDs {
		if seen[id] {
			return core.Invalid("ids", "ids names %s twice", core.Shorten(id))
		}
		seen[id] = true
	}
	return nil
}

// checkFolder returns an error if Folder is not the path of a folder. "" is the set itself.
func (m Many) checkFolder() error {
	if m.Folder == nil || *m.Folder == "" {
		return nil
	}
	return NewFolderPath("folder", *m.Folder)
}

// ManyAction is the change to make to each file.
type ManyAction uint8

// The actions. The zero ManyAction is invalid.
const (
	DeleteMany ManyAction = iota + 1
	RestoreMany
	CopyMany
	MoveMany
)

// ChangeMany deletes, restores, copies or moves files of a set, each like the use case for one
// file. It works in steps of up to 200 files. Each step is one transaction and authorises the
// caller again. A file that is refused stays as it is, and the others continue. If a step fails as
// a whole, its files and the remaining files get its error as their result. ChangeMany returns an
// error only if it has tried no file.
func (s *Files) ChangeMany(ctx context.Context, p auth.Principal, set string, in Many) (results []ManyResult, err error) {
	m := manySteps{service: s, set: set, Many: in}
	err = s.core.View(ctx, p, m.check)
	for left := in.IDs; err == nil && len(left) > 0; {
		var done []ManyResult
		failed := s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) (err error) {
			done, err = m.step(ctx, tx, p, left[:min(len(left), core.MaxStep)])
			return err
		})
		refusal, known := errors.AsType[*errs.Error](failed)
		switch {
		case failed == nil:
			results, left = append(results, done...), left[len(done):]
		case !known || len(results) == 0:
			err = failed
		default:
			for _, id := range left {
				results = append(results, ManyResult{ID: id, Refused: refusal})
			}
			left = nil
		}
	}
	s.core.Inline.Wake()
	return results, err
}

// manySteps is a change of many files in progress.
type manySteps struct {
	Many
	service *Files
	set     string
	folder  string // in the form stored in the destination set
}

// check returns an error if the whole change must be refused.
func (m *manySteps) check(tx *metadata.Tx, p auth.Principal) error {
	_, err := m.source(tx, p)
	if err == nil {
		err = cmp.Or(m.checkFolder(), m.checkIDs(), m.Malformed)
	}
	if err == nil && m.IDs == nil {
		err = core.Missing("ids", "ids is required")
	}
	if err == nil && m.Action == 0 {
		err = core.Missing("action", "action is required")
	}
	if err != nil {
		return err
	}
	places := m.Action == CopyMany || m.Action == MoveMany
	switch named := m.SetID != "" || m.Folder != nil; {
	case named && !places:
		return core.Invalid("action", "setId and folder are accepted only for copy and move")
	case !named && places:
		return core.Missing("setId", "setId or folder is required: the destination of the files")
	}
	_, err = m.admit(tx, p)
	return err
}

// source looks up the set and authorises the caller for the action.
func (m *manySteps) source(tx *metadata.Tx, p auth.Principal) (core.ResolvedSet, error) {
	action := auth.Write
	if m.Action == CopyMany {
		action = auth.Read
	}
	set, err := core.LookupSet(tx, m.set, "")
	if err == nil {
		err = set.Authorise(tx, p, action)
	}
	return set, err
}

// admit looks up the set and the destination set, and authorises the caller.
func (m *manySteps) admit(tx *metadata.Tx, p auth.Principal) (set core.ResolvedSet, err error) {
	set, err = m.source(tx, p)
	folder := core.ValueOf(m.Folder)
	if err == nil && (m.SetID != "" || m.Action == CopyMany) {
		goal := set
		if m.SetID != "" {
			goal, err = core.LookupSet(tx, m.SetID, "setId")
		}
		if err == nil {
			err = goal.Authorise(tx, p, auth.Write)
		}
		if err == nil {
			err = goal.Open("setId")
		}
		if err == nil {
			m.folder, err = StoredFolder(tx, goal.ID, folder)
		}
		return set, err
	}
	if err == nil {
		m.folder, err = StoredFolder(tx, set.ID, folder)
	}
	return set, err
}

// step processes the first of the remaining files, as many as fit into one transaction.
func (m *manySteps) step(ctx context.Context, tx *metadata.Tx, p auth.Principal, ids []string) (done []ManyResult, err error) {
	set, err := m.admit(tx, p)
	if err != nil {
		return nil, err
	}
	versions := 0
	for _, id := range ids {
		result := ManyResult{ID: id}
		r, err := core.LookupResource(tx, id)
		if err == nil && r.SetID != set.ID {
			err = &errs.Error{Kind: errs.NotFound, Code: errs.CodeResourceNotFound, Message: "the set has no resource with this id"}
		}
		var write func() error
		if err == nil {
			write, err = m.plan(ctx, tx, p, r, &result, &versions)
		}
		refused, known := errors.AsType[*errs.Error](err)
		if err != nil && !known {
			return nil, err
		}
		if result.Refused = refused; refused == nil && write != nil {
			if err := write(); err != nil {
				return nil, err // the transaction is partly written
			}
		}
		if done = append(done, result); versions > MaxStepVersions {
			break
		}
	}
	return done, nil
}

// plan checks the change of one file, and returns the function that writes it, or nil if nothing
// changes.
func (m *manySteps) plan(ctx context.Context, tx *metadata.Tx, p auth.Principal, r core.ResolvedResource, result *ManyResult, versions *int) (write func() error, err error) {
	if m.Action == CopyMany || m.Action == MoveMany {
		t := m.service.NewRelocation(tx, p, m.Action == MoveMany)
		name := r.Name
		if m.Folder != nil {
			name = m.folder + name[strings.LastIndexByte(strings.TrimSuffix(name, "/"), '/')+1:] // a name may end in a slash
		}
		if err := t.Prepare(ctx, r.ID.String(), Destination{SetID: m.SetID, Name: name}); err != nil {
			return nil, err
		}
		*versions += t.Versions()
		result.Already = t.Renames() && name == r.Name
		return func() (err error) {
			result.Arrived, err = t.CarryOut()
			return err
		}, nil
	}
	if err := r.Admit(tx, p, auth.Write); err != nil {
		return nil, err
	}
	to := metadata.Deleted
	if m.Action == RestoreMany {
		to = metadata.Active
	}
	changed := r.Shown()
	if result.Already = changed.State == to; result.Already {
		return nil, nil
	}
	action, err := r.Pass(&changed, to)
	return func() error { return r.Write(tx, rows.Change{By: p, Action: action}, &changed) }, err
}
