package watch

import (
	"context"
	"errors"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/events"
	"labshelf/repository/internal/storage"
)

// NewEvents returns the streams of what happens in a repository.
func NewEvents(core *core.Core) *events.Streams { return events.New(eventRules{core}) }

// eventRules implements events.Rules.
type eventRules struct{ *core.Core }

// View implements events.Rules. That a stream waits is no reason to keep inline bodies from being
// flushed, so it is no ViewDurable.
func (r eventRules) View(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	return storage.Error(r.Stores.Meta.ViewDurable(ctx, r.AsCaller(p, fn)))
}

// MayRead implements events.Rules. In a dataspace that does not exist nobody may read.
func (r eventRules) MayRead(tx *metadata.Tx, p auth.Principal, dataspace metadata.ID) (bool, error) {
	d, err := tx.Dataspaces.Get(dataspace)
	if err == nil {
		err = core.Authorise(tx, p, d, auth.Read)
	}
	if refusal, is := errors.AsType[*errs.Error](err); is && refusal.Kind == errs.Forbidden || errors.Is(err, metadata.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
