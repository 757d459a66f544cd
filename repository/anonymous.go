package repository

import (
	"context"
	"errors"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/internal/storage"
)

// An anonymous reader has neither key nor session. It may read what is in an open dataspace, if the
// configuration allows that, and it gets one answer to everything else: that to no key. So it
// cannot tell what it may not read from what does not exist. The use cases that it may call are
// those that read by read and readDurable; all others refuse it in asCaller.

// Anonymous tells whether there are anonymous readers.
func (s *Service) Anonymous() bool { return s.config.Anonymous }

// AnonymousReader returns the principal of a request without any credentials, or the refusal where
// such requests are not served.
func (s *Service) AnonymousReader() (auth.Principal, error) {
	if !s.config.Anonymous {
		return auth.Principal{}, unauthenticated()
	}
	return auth.Principal{Anonymous: true}, nil
}

// read is view for what anonymous readers may see, too: fn authorises the caller before it tells
// anything of an object.
func (s *Service) read(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	return s.stores.View(ctx, s.asReader(p, fn))
}

// readDurable is viewDurable for what anonymous readers may see, too.
func (s *Service) readDurable(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	s.inline.Reading()
	return storage.Error(s.stores.Meta.ViewDurable(ctx, s.asReader(p, fn)))
}

// asReader is asCaller for use cases that anonymous readers may call.
func (s *Service) asReader(came auth.Principal, fn func(*metadata.Tx, auth.Principal) error) func(*metadata.Tx) error {
	if !came.Anonymous {
		return s.asCaller(came, fn)
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

// openListings are those of one object, which an anonymous reader may list if it may read the
// object. A listing over everything wants a key: a harvester that lost its key must not take what
// is open for everything.
var openListings = map[paging.Listing]bool{
	paging.DataspaceSets: true, paging.DataspaceResources: true, paging.SetResources: true, paging.ResourceVersions: true,
}

// OpenDataspaces hands each active dataspace that is open to add, by id, for as long as add returns
// true. It refuses where there are no anonymous readers. Add runs in a transaction; it must be
// quick.
func (s *Service) OpenDataspaces(ctx context.Context, add func(metadata.Dataspace) bool) error {
	return s.readDurable(ctx, auth.Principal{Anonymous: true}, func(tx *metadata.Tx, p auth.Principal) error {
		for id, err := range tx.Dataspaces.Public(metadata.ID{}) {
			if err = errors.Join(err, ctx.Err()); err != nil {
				return err
			}
			d, err := tx.Dataspaces.Get(id)
			if err != nil {
				return err
			}
			if d.Visibility == metadata.Open && d.State == metadata.Active && !add(d) {
				return nil
			}
		}
		return nil
	})
}
