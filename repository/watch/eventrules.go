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

// NewEvents returns the event streams of a repository.
func NewEvents(core *core.Core) *events.Streams { return events.New(eventRules{core}) }

// eventRules implements events.Rules.
type eventRules struct{ *core.Core }

// View implements events.Rules. It uses the ViewDurable of the store and not of Core, because
// a waiting stream must not prevent inline bodies from being flushed.
func (r eventRules) View(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	return storage.Error(r.Stores.Meta.ViewDurable(ctx, r.AsCaller(p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := core.Permitted(p, auth.Read); err != nil {
			return err
		}
		return fn(tx, p)
	})))
}

// MayRead implements events.Rules. It returns false for a dataspace that does not exist.
func (r eventRules) MayRead(tx *metadata.Tx, p auth.Principal, dataspace, set metadata.ID) (bool, error) {
	d, err := tx.Dataspaces.Get(dataspace)
	if err == nil {
		err = core.AuthoriseIn(tx, p, d, set, auth.Read)
	}
	if refusal, is := errors.AsType[*errs.Error](err); is && refusal.Kind == errs.Forbidden || errors.Is(err, metadata.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
