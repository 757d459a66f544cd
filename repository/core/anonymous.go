package core

import (
	"context"
	"errors"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/internal/storage"
)

// An anonymous reader has neither key nor session. If the configuration allows it, it may read open
// dataspaces. It gets the answer to a request without a key for everything else, so it cannot
// distinguish unreadable objects from missing ones. It may call only the use cases that use Read
// and ReadDurable; AsCaller refuses it in all others.

// Anonymous reports whether the configuration allows anonymous readers.
func (s *Credentials) Anonymous() bool { return s.core.config.Anonymous }

// AnonymousReader returns the principal of a request without credentials. It returns an error if
// anonymous readers are not allowed.
func (s *Credentials) AnonymousReader() (auth.Principal, error) {
	if !s.core.config.Anonymous {
		return auth.Principal{}, unauthenticated()
	}
	return auth.Principal{Anonymous: true}, nil
}

// Read is like View for data that anonymous readers may see, too. fn must authorise the caller
// before it reveals anything about an object.
func (s *Core) Read(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	return s.Stores.View(ctx, s.asReader(p, fn))
}

// ReadDurable is like ViewDurable for data that anonymous readers may see, too.
func (s *Core) ReadDurable(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	s.Inline.Reading()
	return storage.Error(s.Stores.Meta.ViewDurable(ctx, s.asReader(p, fn)))
}

// asReader is like AsCaller for use cases that anonymous readers may call.
func (s *Core) asReader(came auth.Principal, fn func(*metadata.Tx, auth.Principal) error) func(*metadata.Tx) error {
	if !came.Anonymous {
		return s.AsCaller(came, fn)
	}
	return func(tx *metadata.Tx) error {
		if !s.config.Anonymous {
			return unauthenticated()
		}
		tx.Facts = s.facts.at(tx.Access())
		return alike(fn(tx, came))
	}
}

// alike replaces errors for missing and for unreadable objects by the same error.
func alike(err error) error {
	if refusal, is := errors.AsType[*errs.Error](err); is && (refusal.Kind == errs.NotFound || refusal.Kind == errs.Forbidden) {
		return unauthenticated()
	}
	return err
}
