// Package links offers the use cases of shares, file requests and invitations: creating and
// managing them, and what their visitors do. It builds on the packages core, containers and files.
package links

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"labshelf/auth"
	"labshelf/auth/admission"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/internal/rows"
)

// Config holds the operator's settings for links.
type Config struct {
	AdminsInvite bool          // admins may invite into their dataspaces
	LinkAge      time.Duration // maximum age of a link; 0 for no limit
}

// Links offers the use cases of managing links. It is safe for concurrent use.
type Links struct {
	core       *core.Core
	users      *containers.Users
	uploads    *files.Uploads
	config     Config
	passwords  *passwords
	unfinished unfinished // unfinished uploads through links
}

// New returns the links of a repository.
func New(core *core.Core, users *containers.Users, uploads *files.Uploads, config Config) *Links {
	return &Links{core: core, users: users, uploads: uploads, config: config, passwords: newPasswords()}
}

// RestoreUpload registers an unfinished upload through a link that began before a restart.
func (s *Links) RestoreUpload(link, upload metadata.ID) { s.unfinished.add(link, upload) }

// PasswordQueue returns the queue of guesses at the passwords of links.
func (s *Links) PasswordQueue() *admission.Queue { return s.passwords.queue }

// TypesOf returns the types of files that a request link accepts. If empty, it accepts all.
func TypesOf(l metadata.Link) []string { return append([]string{}, strings.Fields(l.Types)...) }

// manageLink checks that the caller may change or revoke a link. Its owner may, as long as the
// owner is an editor, and the admins of its dataspace. Only admins may manage invitations, and only
// sysadmins those without a dataspace.
func manageLink(tx *metadata.Tx, p auth.Principal, l metadata.Link) error {
	if l.DataspaceID == (metadata.ID{}) {
		return core.OnlySysadmin(p)
	}
	d, err := tx.Dataspaces.Get(l.DataspaceID)
	if err != nil {
		return err
	}
	if l.OwnerID == p.UserID && l.Kind != metadata.Invitation {
		return core.Authorise(tx, p, d, auth.Share)
	}
	return core.Authorise(tx, p, d, auth.Manage)
}

// managedLink looks up a link, and checks that the caller may manage it.
func managedLink(tx *metadata.Tx, p auth.Principal, id string) (l metadata.Link, err error) {
	l, err = core.ByID(tx.Links.Get, id)
	if l, err = core.OrNotFound(l, err, errs.CodeLinkNotFound, "link", ""); err == nil {
		err = manageLink(tx, p, l)
	}
	return l, err
}

// managed reads the usage of a link and its unfinished uploads.
func (s *Links) managed(tx *metadata.Tx, l metadata.Link) (containers.LinkWithUse, error) {
	unfinished, err := s.unfinishedUploads(tx)
	if err != nil {
		return containers.LinkWithUse{}, err
	}
	return s.managedWith(tx, l, unfinished)
}

func (s *Links) managedWith(tx *metadata.Tx, l metadata.Link, unfinished func(metadata.ID) ([]metadata.ResumableUpload, error)) (containers.LinkWithUse, error) {
	shown, err := s.users.WithUse(tx, l)
	if err != nil || l.Kind != metadata.RequestLink {
		return shown, err
	}
	open, err := unfinished(l.ID)
	for _, t := range open {
		shown.Unfinished.Uploads++
		shown.Unfinished.Bytes += t.Checkpoint.Size
	}
	return shown, err
}

// Create creates a link and returns it with its token, which cannot be read later.
func (s *Links) Create(ctx context.Context, p auth.Principal, in NewLink) (created containers.LinkWithUse, token string, err error) {
	var l metadata.Link
	check := func(tx *metadata.Tx, p auth.Principal) (err error) {
		l, err = s.newLink(tx, p, in)
		return err
	}
	if err := s.core.View(ctx, p, check); err != nil {
		return created, "", err
	}
	hash, err := s.hashFor(ctx, p, core.ValueOf(in.Password))
	if err != nil {
		return created, "", err
	}
	token, digest := auth.NewLink()
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := check(tx, p); err != nil {
			return err
		}
		l.Record, l.OwnerID, l.MadeWith, l.Password, l.Digest = core.NewRecord(tx, p), p.UserID, p.KeyID, hash, digest
		if err := rows.SaveLink(tx, rows.Change{By: p, Action: audit.LinkCreate}, nil, &l); err != nil {
			return err
		}
		created, err = s.users.WithUse(tx, l)
		return err
	})
	return created, token, err
}

// List lists the links that the caller may manage, ordered by id: the caller's own links in
// dataspaces where the caller is an editor, and all links of dataspaces that the caller manages.
func (s *Links) List(ctx context.Context, p auth.Principal, req core.ListRequest) (core.Page[containers.LinkWithUse], error) {
	return core.List(ctx, s.core, p, paging.Links, req, core.Lister[containers.LinkWithUse]{
		Items: func(tx *metadata.Tx, p auth.Principal, q paging.Query) (iter.Seq2[containers.LinkWithUse, error], error) {
			visible := func(l metadata.Link) bool { return manageLink(tx, p, l) == nil }
			links := tx.Links.Range(metadata.LinkRange{Dataspace: q.Dataspace, After: q.After.ID})
			if q.Dataspace == (metadata.ID{}) && q.User != (metadata.ID{}) {
				links = tx.Links.Range(metadata.LinkRange{Owner: q.User, After: q.After.ID})
			}
			matching := core.Filter(links, func(l metadata.Link) bool {
				return core.HasState(q.States, l.Record) && visible(l) && (q.User == metadata.ID{} || l.OwnerID == q.User) && (q.Set == metadata.ID{} || l.SetID == q.Set)
			})
			unfinished, err := s.unfinishedUploads(tx)
			return func(yield func(containers.LinkWithUse, error) bool) {
				for l, err := range matching {
					with, failed := s.managedWith(tx, l, unfinished)
					if !yield(with, cmp.Or(err, failed)) {
						return
					}
				}
			}, err
		},
		Position: func(l containers.LinkWithUse) paging.Position { return paging.Position{ID: l.ID} },
	})
}

// Get returns one link.
func (s *Links) Get(ctx context.Context, p auth.Principal, id string) (l containers.LinkWithUse, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		link, err := managedLink(tx, p, id)
		if err == nil {
			l, err = s.managed(tx, link)
		}
		return err
	})
	return l, err
}

// Update changes label, expires, password, maxUses, and the fields of its kind. The objects
// that a link shows, and the place where it stores files, cannot change. Only callers who could
// create an invitation may change it.
func (s *Links) Update(ctx context.Context, p auth.Principal, id string, f LinkFields, match core.Match) (updated containers.LinkWithUse, err error) {
	var l metadata.Link
	check := func(tx *metadata.Tx, p auth.Principal) (before metadata.Link, changed bool, err error) {
		if before, err = managedLink(tx, p, id); err != nil {
			return before, false, err
		}
		if before.Kind == metadata.Invitation {
			if err := s.mayStillInvite(tx, p, before); err != nil {
				return before, false, err
			}
		}
		l = before
		if err := cmp.Or(NewLink{LinkFields: f}.fits(l.Kind), f.apply(&l)); err != nil {
			return before, false, err
		}
		if changed = l != before || f.Password != nil; changed {
			if err := s.bound(&l, f.Expires != nil); err != nil {
				return before, false, err
			}
		}
		return before, changed, core.Changeable(before.State, before.Tag(), before.Modified, match)
	}
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		_, _, err := check(tx, p)
		return err
	})
	if err != nil {
		return updated, err
	}
	hash, err := s.hashFor(ctx, p, core.ValueOf(f.Password))
	if err != nil {
		return updated, err
	}
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		before, changed, err := check(tx, p)
		if err != nil {
			return err
		}
		if f.Password != nil {
			l.Password = hash
		}
		if changed {
			err = s.saveLink(tx, p, audit.LinkUpdate, before, &l)
		}
		if err == nil {
			updated, err = s.managed(tx, l)
		}
		return err
	})
	return updated, err
}

func (s *Links) saveLink(tx *metadata.Tx, p auth.Principal, action audit.Action, before metadata.Link, after *metadata.Link) error {
	after.Modified, after.ModifiedBy = tx.Stamp(), p.UserID
	return rows.SaveLink(tx, rows.Change{By: p, Action: action}, &before, after)
}

// Revoke permanently ends a link. Revoking a revoked link changes nothing.
func (s *Links) Revoke(ctx context.Context, p auth.Principal, id string) error {
	err := s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		before, err := managedLink(tx, p, id)
		if err != nil || before.State == metadata.Deleted {
			return err
		}
		l := before
		l.State = metadata.Deleted
		return s.saveLink(tx, p, audit.LinkRevoke, before, &l)
	})
	if err == nil {
		s.uploads.Chunks.Tidy()
	}
	return err
}

// EndUploads ends the unfinished uploads through a request link, including those that are
// receiving data. Callers who may revoke the link may call it. Complete files stay.
func (s *Links) EndUploads(ctx context.Context, p auth.Principal, id string) error {
	var open []metadata.ResumableUpload
	err := s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		l, err := managedLink(tx, p, id)
		if err != nil {
			return err
		}
		unfinished, err := s.unfinishedUploads(tx)
		if err == nil {
			open, err = unfinished(l.ID)
		}
		return err
	})
	for _, t := range open {
		err = errors.Join(err, s.uploads.Chunks.End(ctx, t.ID))
	}
	return err
}

// Take makes the caller the owner of a link. The caller must be its owner or an admin of its
// dataspace. From then on, the link has the rights of the caller and depends on the caller's key.
func (s *Links) Take(ctx context.Context, p auth.Principal, id string) (taken containers.LinkWithUse, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		before, err := managedLink(tx, p, id)
		if err != nil {
			return err
		}
		l := before
		if l.OwnerID, l.MadeWith = p.UserID, p.KeyID; before.State == metadata.Deleted {
			return core.Conflict(errs.CodeDeleted, "", "this link is revoked; create another one")
		}
		if l.Kind == metadata.Invitation {
			if err := s.mayStillInvite(tx, p, l); err != nil {
				return err
			}
		}
		if l.OwnerID != before.OwnerID || l.MadeWith != before.MadeWith {
			err = s.saveLink(tx, p, audit.LinkTake, before, &l)
		}
		if err == nil {
			taken, err = s.managed(tx, l)
		}
		return err
	})
	return taken, err
}
