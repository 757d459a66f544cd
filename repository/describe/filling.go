package describe

import (
	"context"

	"labshelf/formats/audit"
	"labshelf/formats/descriptive"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/internal/rows"
)

// filling implements the rules of instruments. They act without a user, on files of sets whose
// writers have enabled extraction.
type filling struct{ *Descriptions }

func (f filling) resolve(tx *metadata.Tx, id metadata.ID) (r core.ResolvedResource, err error) {
	f.core.UseFacts(tx)
	if r.Resource, err = tx.Resources.Get(id); err == nil {
		r.Set, err = core.ResolveSet(tx, r.SetID)
	}
	return r, err
}

// Lookup implements instruments.Rules.
func (f filling) Lookup(tx *metadata.Tx, id metadata.ID) (metadata.Resource, metadata.Extract, error) {
	resolved, err := f.resolve(tx, id)
	r, set := resolved.Shown(), resolved.Set.Shown()
	if err != nil || r.State != metadata.Active || set.State != metadata.Active || set.Extract == 0 {
		return r, 0, err
	}
	return r, set.Extract, rows.Described(tx, r.ID, &r.Descriptive)
}

// Fill implements instruments.Rules. The record still names the person who changed it last; the
// entry in the audit log names no user.
func (f filling) Fill(ctx context.Context, tx *metadata.Tx, id metadata.ID, now descriptive.Metadata, cause uint64) error {
	resolved, err := f.resolve(tx, id)
	if err == nil {
		err = rows.Described(tx, id, &resolved.Descriptive)
	}
	if err != nil {
		return err
	}
	filled := resolved.Shown()
	filled.Descriptive = textOf(now)
	if err := f.Conform(ctx, tx, Arriving(resolved.Descriptive, &filled)); err != nil {
		return err
	}
	return resolved.Write(tx, rows.Change{Action: audit.ResourceEdit, Cause: cause}, &filled)
}

// Filled waits until instruments have processed everything that is committed at the time of the
// call. It is for tests and measurements.
func (s *Descriptions) Filled(ctx context.Context) error {
	size, err := s.core.LogSize(ctx)
	if err != nil {
		return err
	}
	return s.instruments.Followed(ctx, size)
}
