package containers

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

// Users offers the use cases of users with their keys and roles. It is safe for concurrent use.
type Users struct {
	core   *core.Core
	config Config
	ended  func()
}

// NewUsers returns the users of a repository. ended is called when a key or a user, on which links
// and webhooks depend, may have ended.
func NewUsers(core *core.Core, config Config, ended func()) *Users {
	return &Users{core: core, config: config, ended: ended}
}

// UserFields are the changeable fields of a user. A nil field keeps its value. Only sysadmins may
// change Sysadmin and Quota.
type UserFields struct {
	Fullname, About *string
	Sysadmin        *bool
	Quota           *int64 // bytes; 0 for no limit
	core.Input
}

// NewUser describes a user to create.
type NewUser struct {
	Username string
	UserFields
}

// apply validates the fields and sets them in a user.
func (f UserFields) apply(u *metadata.User) error {
	core.Set(&u.Sysadmin, f.Sysadmin)
	return cmp.Or(
		core.ProseText.Set(&u.About, "about", f.About),
		core.TitleText.Set(&u.Fullname, "fullname", f.Fullname),
		setQuota(&u.Quota, f.Quota),
		f.Malformed)
}

// Create creates a user. Only sysadmins may call it.
func (s *Users) Create(ctx context.Context, p auth.Principal, in NewUser) (created metadata.User, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := core.OnlySysadmin(p); err != nil {
			return err
		}
		created, err = s.NewUser(tx, rows.Change{By: p}, in)
		return err
	})
	return created, err
}

// NewUser creates a user on behalf of change.By.
func (s *Users) NewUser(tx *metadata.Tx, change rows.Change, in NewUser) (u metadata.User, err error) {
	u.Username, u.Quota = in.Username, s.config.UserQuota
	if err := cmp.Or(in.Without(u.Username), checkUsername(u.Username), checkReserved(u.Username), in.apply(&u)); err != nil {
		return u, err
	}
	id, err := tx.Users.ByName(u.Username)
	if err := free(id, err, core.Conflict(errs.CodeUsernameTaken, "username", "a user with this username exists, perhaps a deleted one; case does not matter")); err != nil {
		return u, err
	}
	u.Record, change.Action = core.NewRecord(tx, change.By), audit.UserCreate
	return u, rows.SaveUser(tx, change, nil, &u)
}

// Get returns one user. Every registered user may call it. A key that may not read everything gets
// only its own user, so that programs can test each key.
func (s *Users) Get(ctx context.Context, p auth.Principal, id string) (u metadata.User, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if u, err = core.LookupUser(tx, core.Myself(p, id), ""); err == nil && u.ID != p.UserID {
			err = core.Reads(p)
		}
		return err
	})
	return u, err
}

// Update changes fullname or about. Only sysadmins may change sysadmin and quota.
func (s *Users) Update(ctx context.Context, p auth.Principal, id string, f UserFields, match core.Match) (updated metadata.User, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		u, err := core.LookupUser(tx, core.Myself(p, id), "")
		if err != nil {
			return err
		}
		if err := core.Oneself(p, u.ID); err != nil {
			return err
		}
		if f.Sysadmin != nil && *f.Sysadmin != u.Sysadmin {
			if err := core.OnlySysadmin(p); err != nil {
				return err
			}
		}
		before := u
		if err := f.apply(&u); err != nil {
			return err
		}
		if err := onlySysadminSets(p, before.Quota, u.Quota); err != nil {
			return err
		}
		if err := core.Changeable(before.State, before.Tag(), before.Modified, match); err != nil {
			return err
		}
		if before.Sysadmin && !u.Sysadmin {
			if err := anotherSysadmin(tx, u.ID); err != nil {
				return err
			}
		}
		if u != before {
			u.Modified, u.ModifiedBy = tx.Stamp(), p.UserID
			err = rows.SaveUser(tx, rows.Change{By: p, Action: audit.UserUpdate}, &before, &u)
		}
		updated = u
		return err
	})
	return updated, err
}

// anotherSysadmin returns an error if no other active sysadmin exists.
func anotherSysadmin(tx *metadata.Tx, but metadata.ID) error {
	for u, err := range tx.Users.All(metadata.ID{}) {
		if err != nil {
			return err
		}
		if u.Sysadmin && u.State == metadata.Active && u.ID != but {
			return nil
		}
	}
	return core.Conflict(errs.CodeLastSysadmin, "", "this is the last active sysadmin; make another user a sysadmin first")
}

// Delete deletes a user. It permanently revokes the keys and links of the user and pauses the
// user's webhooks. The privileges stay.
func (s *Users) Delete(ctx context.Context, p auth.Principal, id string, match core.Match) (u metadata.User, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if u, err = s.passingUser(tx, p, id, match); err != nil || u.State == metadata.Deleted {
			return err
		}
		if u.Sysadmin {
			if err := anotherSysadmin(tx, u.ID); err != nil {
				return err
			}
		}
		held, err := heldBy(tx, u.ID)
		if err != nil {
			return err
		}
		before := u
		u.State, u.Modified, u.ModifiedBy = metadata.Deleted, tx.Stamp(), p.UserID
		if err := rows.SaveUser(tx, rows.Change{By: p, Action: audit.UserDelete}, &before, &u); err != nil {
			return err
		}
		return held.end(tx, rows.Change{By: p, Cause: u.Entry}, u.Modified, metadata.PausedWithRole)
	})
	s.ended()
	return u, err
}

// Restore restores a deleted user, without the keys, links and webhooks.
func (s *Users) Restore(ctx context.Context, p auth.Principal, id string, match core.Match) (u metadata.User, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if u, err = s.passingUser(tx, p, id, match); err != nil || u.State == metadata.Active {
			return err
		}
		before := u
		u.State, u.Modified, u.ModifiedBy = metadata.Active, tx.Stamp(), p.UserID
		return rows.SaveUser(tx, rows.Change{By: p, Action: audit.UserRestore}, &before, &u)
	})
	return u, err
}

func (s *Users) passingUser(tx *metadata.Tx, p auth.Principal, id string, match core.Match) (metadata.User, error) {
	u, err := core.LookupUser(tx, core.Myself(p, id), "")
	if err != nil {
		return u, err
	}
	if err := core.OnlySysadmin(p); err != nil {
		return u, err
	}
	return u, match.Check(u.Tag(), u.Modified)
}

// Bootstrap creates the first user, the sysadmin admin, in an empty repository. The user gets the
// chosen key or, if that is "", a new one. Bootstrap returns the key, or "" if the repository has
// users.
func (s *Users) Bootstrap(ctx context.Context, chosen string) (key string, err error) {
	err = s.core.Stores.Meta.Update(ctx, func(tx *metadata.Tx) error {
		key = ""
		users, err := rows.Collect(tx.Users.All(metadata.ID{}), 1)
		if err != nil || len(users) > 0 {
			return err
		}
		stamp := tx.Stamp()
		admin := metadata.User{Record: metadata.Record{ID: metadata.NewID(stamp), State: metadata.Active, Created: stamp, Modified: stamp}, Username: "admin", Sysadmin: true}
		admin.CreatedBy, admin.ModifiedBy = admin.ID, admin.ID
		if key = chosen; key == "" {
			key = auth.NewKey()
		}
		return errors.Join(
			rows.SaveUser(tx, rows.Change{Action: audit.UserCreate}, nil, &admin),
			putKey(tx, metadata.Key{UserID: admin.ID, Label: "first start"}, key))
	})
	return key, storage.Error(err)
}

// NewKeyFor creates a key for an active user, on behalf of an operator with access to the data
// directory. It checks no permissions.
func (s *Users) NewKeyFor(ctx context.Context, username string) (key string, err error) {
	err = s.core.Stores.Meta.Update(ctx, func(tx *metadata.Tx) error {
		id, err := tx.Users.ByName(username)
		if errors.Is(err, metadata.ErrNotFound) {
			return &errs.Error{Kind: errs.NotFound, Code: errs.CodeUserNotFound, Field: "user", Message: fmt.Sprintf("there is no user %q", core.Shorten(username))}
		}
		if err != nil {
			return err
		}
		u, err := tx.Users.Get(id)
		if err != nil {
			return err
		}
		if u.State == metadata.Deleted {
			return core.Conflict(errs.CodeUserDeleted, "user", "the user %q is deleted", u.Username)
		}
		key = auth.NewKey()
		return putKey(tx, metadata.Key{UserID: u.ID, Label: "created on the server"}, key)
	})
	return key, storage.Error(err)
}
