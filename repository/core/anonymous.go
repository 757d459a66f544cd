package core

import (
	"context"
	"errors"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/internal/storage"
)

// An anonymous reader has neither key nor session. It may read what is in an open dataspace, if the
// configuration allows that, and it gets one answer to everything else: that to no key. So it
// cannot tell what it may not read from what does not exist. The use cases that it may call are
// those that read by read and ReadDurable; all others refuse it in AsCaller.

// Anonymous reports whether the configuration allows anonymous readers.
func (s *Credentials) Anonymous() bool { return s.core.config.Anonymous }

// AnonymousReader returns the principal of a request without any credentials, or the refusal where
// such requests are not served.
func (s *Credentials) AnonymousReader() (auth.Principal, error) {
	if !s.core.config.Anonymous {
		return auth.Principal{}, unauthenticated()
	}
	return auth.Principal{Anonymous: true}, nil
}

// Read is view for what anonymous readers may see, too: fn authorises the caller before it tells
// anything of an object.
func (s *Core) Read(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	return s.Stores.View(ctx, s.asReader(p, fn))
}

// ReadDurable is ViewDurable for what anonymous readers may see, too.
func (s *Core) ReadDurable(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	s.Inline.Reading()
	return storage.Error(s.Stores.Meta.ViewDurable(ctx, s.asReader(p, fn)))
}

// asReader is AsCaller for use cases that anonymous readers may call.
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

// alike makes one error of those that say that something does not exist, and that the caller may
// not read it.
func alike(err error) error {
	if refusal, is := errors.AsType[*errs.Error](err); is && (refusal.Kind == errs.NotFound || refusal.Kind == errs.Forbidden) {
		return unauthenticated()
	}
	return err
}
