package files

import (
	"context"
	"errors"
	"strings"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/internal/rows"
)

// maxMany is how many files one request deletes, restores, copies or moves.
const maxMany = 1000

// ManyResult is what became of one of many files.
type ManyResult struct {
	ID      string            // as the request names it
	Arrived metadata.Resource // of a copy or a move: the file at the place
	Refused *errs.Error       // nil: it was done
	Already bool              // it was so before: deleted, active, or in that place
}

// manyRequest is what a request says about many files.
type manyRequest struct {
	action    string
	ids       []string
	setID     string
	folder    string
	hasFolder bool
}

var manyFilesFields = core.Setters[manyRequest]{
	"action": func(m *manyRequest, field string, value any) (err error) {
		if m.action, err = core.StringValue(field, value); err == nil && manyActions[m.action] == 0 {
			err = core.Invalid(field, "%s must be delete, restore, copy or move", field)
		}
		return err
	},
	"ids": func(m *manyRequest, field string, value any) (err error) {
		if m.ids, err = core.StringsValue(field, value); err != nil {
			return err
		}
		if len(m.ids) == 0 || len(m.ids) > maxMany {
			return core.Invalid(field, "%s must name from 1 to %d files; there are %d", field, maxMany, len(m.ids))
		}
		seen := make(map[string]bool, len(m.ids))
		for _, id := range m.ids {
			if seen[id] {
				return core.Invalid(field, "%s names %s twice", field, core.Shorten(id))
			}
			seen[id] = true
		}
		return nil
	},
	"setId": core.TextSetter(core.TextRule{Min: 1, Max: core.MaxNameBytes, Bytes: true}, func(m *manyRequest) *string { return &m.setID }),
	"folder": func(m *manyRequest, field string, value any) (err error) {
		m.hasFolder = true
		if m.folder, err = core.StringValue(field, value); err == nil && m.folder != "" {
			err = NewFolderPath(field, m.folder)
		}
		return err
	},
}

// manyAction is what is done with each of many files.
type manyAction uint8

const (
	deleteMany manyAction = iota + 1
	restoreMany
	copyMany
	moveMany
)

var manyActions = map[string]manyAction{"delete": deleteMany, "restore": restoreMany, "copy": copyMany, "move": moveMany}

// ChangeMany deletes, restores, copies or moves files of a set, each as the use case for one file
// does. It goes in steps of up to 200 files, each of which is one transaction and authorises the
// caller anew. A file that is refused stays as it is, and the others go on. Where a step fails as a
// whole, its files and those behind it have the error as their result; an error is returned only
// where nothing was tried.
func (s *Files) ChangeMany(ctx context.Context, p auth.Principal, set string, f core.Fields) (results []ManyResult, err error) {
	m := manySteps{service: s, set: set}
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error { return m.check(tx, p, f) })
	for left := m.asked.ids; err == nil && len(left) > 0; {
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

// manySteps are files that are deleted, restored, copied or moved.
type manySteps struct {
	service *Files
	set     string
	asked   manyRequest
	action  manyAction
}

// check finds what refuses the whole.
func (m *manySteps) check(tx *metadata.Tx, p auth.Principal, f core.Fields) error {
	action := auth.Write
	if f["action"] == "copy" {
		action = auth.Read
	}
	set, err := core.LookupSet(tx, m.set, "")
	if err == nil {
		err = core.Authorise(tx, p, set.Dataspace, action)
	}
	if err == nil {
		err = core.SetFields(&m.asked, f, manyFilesFields)
	}
	if err == nil && m.asked.ids == nil {
		err = core.Missing("ids", "ids is required")
	}
	if err == nil && m.asked.action == "" {
		err = core.Missing("action", "action is required")
	}
	if err != nil {
		return err
	}
	m.action = manyActions[m.asked.action]
	places := m.action == copyMany || m.action == moveMany
	switch named := m.asked.setID != "" || m.asked.hasFolder; {
	case named && !places:
		return core.Invalid("action", "setId and folder say where files go that are copied or moved")
	case !named && places:
		return core.Missing("setId", "setId or folder is required: where the files go")
	}
	_, err = m.admit(tx, p)
	return err
}

// admit looks up the set, and that to which files go, and authorises the caller.
func (m *manySteps) admit(tx *metadata.Tx, p auth.Principal) (set core.ResolvedSet, err error) {
	action := auth.Write
	if m.action == copyMany {
		action = auth.Read
	}
	if set, err = core.LookupSet(tx, m.set, ""); err == nil {
		err = core.Authorise(tx, p, set.Dataspace, action)
	}
	if err == nil && (m.asked.setID != "" || m.action == copyMany) {
		goal := set
		if m.asked.setID != "" {
			goal, err = core.LookupSet(tx, m.asked.setID, "setId")
		}
		if err == nil {
			err = core.Authorise(tx, p, goal.Dataspace, auth.Write)
		}
		if err == nil {
			err = goal.Open("setId")
		}
		if err == nil {
			m.asked.folder, err = StoredFolder(tx, goal.ID, m.asked.folder)
		}
		return set, err
	}
	if err == nil {
		m.asked.folder, err = StoredFolder(tx, set.ID, m.asked.folder)
	}
	return set, err
}

// step does what is asked with the first of the files that are left, as many as one transaction is
// to hold.
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
				return nil, err // the transaction is half written
			}
		}
		if done = append(done, result); versions > MaxStepVersions {
			break
		}
	}
	return done, nil
}

// plan finds what refuses one file, and returns what writes the change; nil: there is none.
func (m *manySteps) plan(ctx context.Context, tx *metadata.Tx, p auth.Principal, r core.ResolvedResource, result *ManyResult, versions *int) (write func() error, err error) {
	if m.action == copyMany || m.action == moveMany {
		t := m.service.NewRelocation(tx, p, m.action == moveMany)
		name := r.Name
		if m.asked.hasFolder {
			name = m.asked.folder + name[strings.LastIndexByte(strings.TrimSuffix(name, "/"), '/')+1:] // a name may end in a slash
		}
		if err := t.Prepare(ctx, r.ID.String(), Destination{SetID: m.asked.setID, Name: name}); err != nil {
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
	if m.action == restoreMany {
		to = metadata.Active
	}
	changed := r.Shown()
	if result.Already = changed.State == to; result.Already {
		return nil, nil
	}
	action, err := r.Pass(&changed, to)
	return func() error { return r.Write(tx, rows.Change{By: p, Action: action}, &changed) }, err
}
