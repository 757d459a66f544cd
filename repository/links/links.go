// Package links is the room of shares, file requests and invitations: their making, and what their
// visitors do. It stands on core, containers and files.
package links

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
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

// Config is what an operator decides about links.
type Config struct {
	AdminsInvite bool          // admins may invite people into their dataspaces; else only sysadmins invite
	LinkAge      time.Duration // in which a link ends at the latest; 0: none has to end
}

// Links are the links of a repository. It is safe for concurrent use.
type Links struct {
	core       *core.Core
	users      *containers.Users
	uploads    *files.Uploads
	config     Config
	passwords  *passwords
	unfinished unfinished // uploads of links
}

// New returns the links of a repository.
func New(core *core.Core, users *containers.Users, uploads *files.Uploads, config Config) *Links {
	return &Links{core: core, users: users, uploads: uploads, config: config, passwords: newPasswords()}
}

// RestoreUpload remembers an unfinished upload that an earlier process has begun through a link.
func (s *Links) RestoreUpload(link, upload metadata.ID) { s.unfinished.add(link, upload) }

// PasswordQueue returns the queue in which guesses at the passwords of links wait.
func (s *Links) PasswordQueue() *admission.Queue { return s.passwords.queue }

// TypesOf returns what files a request link takes; none: all.
func TypesOf(l metadata.Link) []string { return append([]string{}, strings.Fields(l.Types)...) }

// manageLink authorises a caller to change or end a link: its owner, as long as that is an editor,
// and the admins of its dataspace. Invitations are for admins alone, and those without a dataspace
// for sysadmins.
func manageLink(tx *metadata.Tx, p auth.Principal, l metadata.Link) error {
	if l.DataspaceID == (metadata.ID{}) {
		return core.OnlySysadmin(p)
	}
	d, err := tx.Dataspaces.Get(l.DataspaceID)
	if err != nil {
		return err
	}
	if l.OwnerID == p.UserID && l.Kind != metadata.Invitation {
		return core.Authorise(tx, p, d, auth.Write)
	}
	return core.Authorise(tx, p, d, auth.Manage)
}

// managedLink looks up a link that the caller may manage.
func managedLink(tx *metadata.Tx, p auth.Principal, id string) (l metadata.Link, err error) {
	l, err = core.ByID(tx.Links.Get, id)
	if l, err = core.OrNotFound(l, err, errs.CodeLinkNotFound, "link", ""); err == nil {
		err = manageLink(tx, p, l)
	}
	return l, err
}

// managed reads what has come of a link, and what its unfinished uploads hold.
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

// CreateLink makes a link and returns it with its token, which nothing can show again. Fields:
// kind, optional label and expires; of a share or request also setId, optional password and
// maxUses; of a share optional folder or resourceIds, with one of which version, and hidesPeople;
// of a request optional maxBytes, maxFileBytes, types; of an invitation dataspaceId and role, or,
// from sysadmins, neither.
func (s *Links) CreateLink(ctx context.Context, p auth.Principal, f core.Fields) (created containers.LinkWithUse, token string, err error) {
	var draft draftLink
	check := func(tx *metadata.Tx, p auth.Principal) (err error) {
		draft, err = s.newLink(tx, p, f)
		return err
	}
	if err := s.core.View(ctx, p, check); err != nil {
		return created, "", err
	}
	hash, err := s.hashFor(ctx, p, core.ValueOf(draft.password))
	if err != nil {
		return created, "", err
	}
	token, digest := auth.NewLink()
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := check(tx, p); err != nil {
			return err
		}
		l := draft.Link
		l.Record, l.OwnerID, l.MadeWith, l.Password, l.Digest = core.NewRecord(tx, p), p.UserID, p.KeyID, hash, digest
		if err := rows.SaveLink(tx, rows.Change{By: p, Action: audit.LinkCreate}, nil, &l); err != nil {
			return err
		}
		created, err = s.users.WithUse(tx, l)
		return err
	})
	return created, token, err
}

// ListLinks lists the links that the caller may manage, by id: the caller's own, as long as the
// caller is an editor there, and those of the dataspaces that the caller manages.
func (s *Links) ListLinks(ctx context.Context, p auth.Principal, req core.ListRequest) (core.Page[containers.LinkWithUse], error) {
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

// GetLink returns one link.
func (s *Links) GetLink(ctx context.Context, p auth.Principal, id string) (l containers.LinkWithUse, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		link, err := managedLink(tx, p, id)
		if err == nil {
			l, err = s.managed(tx, link)
		}
		return err
	})
	return l, err
}

// UpdateLink changes label, expires, password, maxUses, and what only links of its kind have. What
// a link shows, or where it puts files, does not change. An invitation is changed by those who
// could make it.
func (s *Links) UpdateLink(ctx context.Context, p auth.Principal, id string, edit core.Edit[containers.LinkWithUse]) (updated containers.LinkWithUse, err error) {
	var draft draftLink
	check := func(tx *metadata.Tx, p auth.Principal) (before metadata.Link, changed bool, err error) {
		if before, err = managedLink(tx, p, id); err != nil {
			return before, false, err
		}
		if before.Kind == metadata.Invitation {
			if err := s.mayStillInvite(tx, p, before); err != nil {
				return before, false, err
			}
		}
		shown, err := s.managed(tx, before)
		if err != nil {
			return before, false, err
		}
		draft = draftLink{Link: before}
		if err := draft.fits(sentOf(edit.Fields, edit.Shown(shown))); err != nil {
			return before, false, err
		}
		changed, err = core.ApplyEdit(&draft, core.Edit[draftLink]{Fields: edit.Fields, Shown: func(draftLink) core.Fields { return edit.Shown(shown) }}, linkFields, core.ReadOnly)
		if err == nil && changed {
			err = s.bound(&draft.Link, edit.Fields)
		}
		if err != nil {
			return before, false, err
		}
		return before, changed, core.Changeable(before.State, before.Tag(), before.Modified, edit.Match)
	}
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		_, _, err := check(tx, p)
		return err
	})
	if err != nil {
		return updated, err
	}
	hash, err := s.hashFor(ctx, p, core.ValueOf(draft.password))
	if err != nil {
		return updated, err
	}
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		before, changed, err := check(tx, p)
		if err != nil {
			return err
		}
		l := draft.Link
		if draft.password != nil {
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

// sentOf returns the fields of a request that say something else than what is shown.
func sentOf(f, shown core.Fields) core.Fields {
	sent := maps.Clone(f)
	maps.DeleteFunc(sent, func(field string, value any) bool { return core.Equal(shown[field], value) })
	return sent
}

func (s *Links) saveLink(tx *metadata.Tx, p auth.Principal, action audit.Action, before metadata.Link, after *metadata.Link) error {
	after.Modified, after.ModifiedBy = tx.Stamp(), p.UserID
	return rows.SaveLink(tx, rows.Change{By: p, Action: action}, &before, after)
}

// RevokeLink ends a link for good. One that is revoked stays as it is.
func (s *Links) RevokeLink(ctx context.Context, p auth.Principal, id string) error {
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

// EndLinkUploads ends the unfinished uploads of a request link, also those of which more comes at
// this moment. The callers who may revoke the link may end them. Files that are complete stay.
func (s *Links) EndLinkUploads(ctx context.Context, p auth.Principal, id string) error {
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

// TakeLink makes the caller, its owner or an admin of its dataspace, the owner of a link: it has
// the caller's rights from then on, and depends on the caller's key.
func (s *Links) TakeLink(ctx context.Context, p auth.Principal, id string) (taken containers.LinkWithUse, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		before, err := managedLink(tx, p, id)
		if err != nil {
			return err
		}
		l := before
		if l.OwnerID, l.MadeWith = p.UserID, p.KeyID; before.State == metadata.Deleted {
			return core.Conflict(errs.CodeDeleted, "", "this link is revoked; make another one")
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
