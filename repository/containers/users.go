package containers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

// Users are the users of a repository, with their keys and roles. It is safe for concurrent use.
type Users struct {
	core   *core.Core
	config Config
	ended  func()
}

// NewUsers returns the users of a repository. ended is called when what lets others in may have
// ended: a key, or a user.
func NewUsers(core *core.Core, config Config, ended func()) *Users {
	return &Users{core: core, config: config, ended: ended}
}

// UserFields are the fields of a user that can be changed; sysadmin and quota only by sysadmins. A
// nil field stays as it is.
type UserFields struct {
	Fullname, About *string
	Sysadmin        *bool
	Quota           *int64 // bytes; 0: no limit
	core.Input
}

// NewUser is a user to be created.
type NewUser struct {
	Username string
	UserFields
}

// apply checks the fields and stores them in a user.
func (f UserFields) apply(u *metadata.User) error {
	core.Set(&u.Sysadmin, f.Sysadmin)
	return cmp.Or(
		core.ProseText.Set(&u.About, "about", f.About),
		core.TitleText.Set(&u.Fullname, "fullname", f.Fullname),
		setQuota(&u.Quota, f.Quota),
		f.Malformed)
}

func checkUsername(name string) error {
	allowed := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-@", r)
	}
	if name == "" || len(name) > core.MaxUsername || strings.ContainsFunc(name, func(r rune) bool { return !allowed(r) }) {
		return core.Invalid("username", "username must have 1 to %d characters, each a letter a-z or A-Z, a digit, or one of . _ - @", core.MaxUsername)
	}
	return nil
}

// checkReserved refuses usernames that stand for something else wherever a user is named: the
// caller, or the user with that id.
func checkReserved(name string) error {
	_, isID := metadata.ParseID(strings.ToUpper(name))
	if isID || strings.EqualFold(name, core.Me) {
		return core.Invalid("username", "username must not be %q, which stands for whoever asks, or have the form of an id", core.Me)
	}
	return nil
}

// CheckChosen refuses usernames that people may not choose for themselves: they look like nobody,
// an element of a path, or an option of a command.
func CheckChosen(name string) error {
	if strings.EqualFold(name, "anonymous") || name == "." || name == ".." || strings.HasPrefix(name, "-") {
		return core.Invalid("username", `username must not be "anonymous", "." or "..", or begin with -`)
	}
	return nil
}

// CreateUser makes a user.
func (s *Users) CreateUser(ctx context.Context, p auth.Principal, in NewUser) (created metadata.User, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := core.OnlySysadmin(p); err != nil {
			return err
		}
		created, err = s.NewUser(tx, rows.Change{By: p}, in)
		return err
	})
	return created, err
}

// NewUser makes a user in the name of change.By.
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

// GetUser returns one user. Every registered user may read it.
func (s *Users) GetUser(ctx context.Context, p auth.Principal, id string) (u metadata.User, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		u, err = core.LookupUser(tx, core.Myself(p, id), "")
		return err
	})
	return u, err
}

// UpdateUser changes fullname or about; a sysadmin also changes sysadmin and quota.
func (s *Users) UpdateUser(ctx context.Context, p auth.Principal, id string, f UserFields, match core.Match) (updated metadata.User, err error) {
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

// anotherSysadmin refuses to lose the last one.
func anotherSysadmin(tx *metadata.Tx, but metadata.ID) error {
	for u, err := range tx.Users.All(metadata.ID{}) {
		if err != nil {
			return err
		}
		if u.Sysadmin && u.State == metadata.Active && u.ID != but {
			return nil
		}
	}
	return core.Conflict(errs.CodeLastSysadmin, "", "this is the last active sysadmin; make another one first")
}

// DeleteUser deletes a user. Its keys and links are revoked at once, for good, and the webhooks
// that act for it pause; its privileges stay.
func (s *Users) DeleteUser(ctx context.Context, p auth.Principal, id string, match core.Match) (u metadata.User, err error) {
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

// RestoreUser makes a deleted user active again, without the keys, links and webhooks.
func (s *Users) RestoreUser(ctx context.Context, p auth.Principal, id string, match core.Match) (u metadata.User, err error) {
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

// Bootstrap makes the first user, the sysadmin admin, in an empty repository, with the chosen key
// or, if that is "", with a new one. It returns the key, or "" if the repository has users.
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

// NewKeyFor makes a key for an active user, for an operator that has the data directory: no caller,
// no permission.
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
		return putKey(tx, metadata.Key{UserID: u.ID, Label: "made on the server"}, key)
	})
	return key, storage.Error(err)
}
