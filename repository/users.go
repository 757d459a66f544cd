package repository

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
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

// userFields are the fields of a user that can be changed; sysadmin and quota only by sysadmins.
var userFields = setters[metadata.User]{
	"fullname": textSetter(titleText, func(u *metadata.User) *string { return &u.Fullname }),
	"about":    textSetter(proseText, func(u *metadata.User) *string { return &u.About }),
	"sysadmin": boolSetter(func(u *metadata.User) *bool { return &u.Sysadmin }),
	"quota":    quotaSetter(func(u *metadata.User) *int64 { return &u.Quota }),
}

// me stands for the caller's own id wherever the id of a user is expected.
const me = "me"

// myself returns the id of a user, which is that of the caller for "me".
func myself(p auth.Principal, id string) string {
	if id == me {
		return p.UserID.String()
	}
	return id
}

func checkUsername(name string) error {
	allowed := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-@", r)
	}
	if name == "" || len(name) > maxUsername || strings.ContainsFunc(name, func(r rune) bool { return !allowed(r) }) {
		return invalid("username", "username must have 1 to %d characters, each a letter a-z or A-Z, a digit, or one of . _ - @", maxUsername)
	}
	return nil
}

// checkReserved refuses usernames that stand for something else wherever a user is named: the
// caller, or the user with that id.
func checkReserved(name string) error {
	_, isID := metadata.ParseID(strings.ToUpper(name))
	if isID || strings.EqualFold(name, me) {
		return invalid("username", "username must not be %q, which stands for whoever asks, or have the form of an id", me)
	}
	return nil
}

// checkChosen refuses usernames that people may not choose for themselves: they look like nobody,
// an element of a path, or an option of a command.
func checkChosen(name string) error {
	if strings.EqualFold(name, "anonymous") || name == "." || name == ".." || strings.HasPrefix(name, "-") {
		return invalid("username", `username must not be "anonymous", "." or "..", or begin with -`)
	}
	return nil
}

// CreateUser makes a user. Fields: username, optional fullname, about, sysadmin, quota.
func (s *Service) CreateUser(ctx context.Context, p auth.Principal, f Fields) (created metadata.User, err error) {
	err = s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := onlySysadmin(p); err != nil {
			return err
		}
		created, err = s.newUser(tx, rows.Change{By: p}, f)
		return err
	})
	return created, err
}

// newUser makes a user of the fields of a request, in the name of change.By.
func (s *Service) newUser(tx *metadata.Tx, change rows.Change, f Fields) (u metadata.User, err error) {
	u.Quota = s.config.UserQuota
	if u.Username, err = f.required("username"); err != nil {
		return u, err
	}
	if err := cmp.Or(checkUsername(u.Username), checkReserved(u.Username)); err != nil {
		return u, err
	}
	if err := create(&u, f, userFields, "username"); err != nil {
		return u, err
	}
	id, err := tx.Users.ByName(u.Username)
	if err := free(id, err, conflict(errs.CodeUsernameTaken, "username", "a user with this username exists, perhaps a deleted one; case does not matter")); err != nil {
		return u, err
	}
	u.Record, change.Action = newRecord(tx, change.By), audit.UserCreate
	return u, rows.SaveUser(tx, change, nil, &u)
}

// GetUser returns one user. Every registered user may read it.
func (s *Service) GetUser(ctx context.Context, p auth.Principal, id string) (u metadata.User, err error) {
	err = s.view(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		u, err = lookupUser(tx, myself(p, id), "")
		return err
	})
	return u, err
}

// UpdateUser changes fullname or about; a sysadmin also changes sysadmin and quota.
func (s *Service) UpdateUser(ctx context.Context, p auth.Principal, id string, edit Edit[metadata.User]) (updated metadata.User, err error) {
	err = s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		u, err := lookupUser(tx, myself(p, id), "")
		if err != nil {
			return err
		}
		if err := oneself(p, u.ID); err != nil {
			return err
		}
		if wanted, sent := edit.Fields["sysadmin"].(bool); sent && wanted != u.Sysadmin {
			if err := onlySysadmin(p); err != nil {
				return err
			}
		}
		before := u
		changed, err := apply(&u, edit, userFields, readOnly)
		if err == nil {
			err = onlySysadminSets(p, before.Quota, u.Quota)
		}
		if err != nil {
			return err
		}
		if err := changeable(before.State, before.Tag(), before.Modified, edit.Match); err != nil {
			return err
		}
		if before.Sysadmin && !u.Sysadmin {
			if err := anotherSysadmin(tx, u.ID); err != nil {
				return err
			}
		}
		if changed {
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
	return conflict(errs.CodeLastSysadmin, "", "this is the last active sysadmin; make another one first")
}

// DeleteUser deletes a user. Its keys and links are revoked at once, for good, and the webhooks
// that act for it pause; its privileges stay.
func (s *Service) DeleteUser(ctx context.Context, p auth.Principal, id string, match Match) (u metadata.User, err error) {
	err = s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
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
func (s *Service) RestoreUser(ctx context.Context, p auth.Principal, id string, match Match) (u metadata.User, err error) {
	err = s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if u, err = s.passingUser(tx, p, id, match); err != nil || u.State == metadata.Active {
			return err
		}
		before := u
		u.State, u.Modified, u.ModifiedBy = metadata.Active, tx.Stamp(), p.UserID
		return rows.SaveUser(tx, rows.Change{By: p, Action: audit.UserRestore}, &before, &u)
	})
	return u, err
}

func (s *Service) passingUser(tx *metadata.Tx, p auth.Principal, id string, match Match) (metadata.User, error) {
	u, err := lookupUser(tx, myself(p, id), "")
	if err != nil {
		return u, err
	}
	if err := onlySysadmin(p); err != nil {
		return u, err
	}
	return u, match.Check(u.Tag(), u.Modified)
}

// Bootstrap makes the first user, the sysadmin admin, in an empty repository, with the chosen key
// or, if that is "", with a new one. It returns the key, or "" if the repository has users.
func (s *Service) Bootstrap(ctx context.Context, chosen string) (key string, err error) {
	err = s.stores.Meta.Update(ctx, func(tx *metadata.Tx) error {
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
func (s *Service) NewKeyFor(ctx context.Context, username string) (key string, err error) {
	err = s.stores.Meta.Update(ctx, func(tx *metadata.Tx) error {
		id, err := tx.Users.ByName(username)
		if errors.Is(err, metadata.ErrNotFound) {
			return &errs.Error{Kind: errs.NotFound, Code: errs.CodeUserNotFound, Field: "user", Message: fmt.Sprintf("there is no user %q", Shorten(username))}
		}
		if err != nil {
			return err
		}
		u, err := tx.Users.Get(id)
		if err != nil {
			return err
		}
		if u.State == metadata.Deleted {
			return conflict(errs.CodeUserDeleted, "user", "the user %q is deleted", u.Username)
		}
		key = auth.NewKey()
		return putKey(tx, metadata.Key{UserID: u.ID, Label: "made on the server"}, key)
	})
	return key, storage.Error(err)
}

// setRole sets the role of a privilege to the role that a request names.
func setRole(v *metadata.Privilege, field string, value any) error {
	s, err := stringValue(field, value)
	if err != nil {
		return err
	}
	role, ok := auth.ParseRole(s)
	if !ok {
		return invalid(field, "role must be member, editor or admin")
	}
	v.Role = role
	return nil
}

// Grant gives a user a role in a dataspace, instead of an earlier one. Fields: userId, dataspaceId,
// role. isNew tells that the pair had no privilege before, not even a revoked one.
func (s *Service) Grant(ctx context.Context, p auth.Principal, f Fields) (granted metadata.Privilege, isNew bool, err error) {
	userID, err := f.required("userId")
	if err != nil {
		return granted, false, err
	}
	dataspaceID, err := f.required("dataspaceId")
	if err != nil {
		return granted, false, err
	}
	err = s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		u, err := lookupUser(tx, myself(p, userID), "userId")
		if err != nil {
			return err
		}
		d, err := lookupDataspace(tx, dataspaceID, "dataspaceId")
		if err != nil {
			return err
		}
		if err := authorise(tx, p, d, auth.Manage); err != nil {
			return err
		}
		wanted := metadata.Privilege{UserID: u.ID, DataspaceID: d.ID}
		if _, err := f.required("role"); err != nil {
			return err
		}
		if err := create(&wanted, f, setters[metadata.Privilege]{"role": setRole}, "userId", "dataspaceId"); err != nil {
			return err
		}
		switch {
		case u.State == metadata.Deleted:
			return conflict(errs.CodeUserDeleted, "userId", "this user is deleted; restore the user first")
		case d.State == metadata.Deleted:
			return parentDeleted("dataspaceId", "dataspace")
		}
		granted, isNew, err = grant(tx, rows.Change{By: p}, wanted)
		return err
	})
	return granted, isNew, err
}

// grant gives a user a role in a dataspace in the name of change.By. isNew reports whether the pair
// had no privilege before.
func grant(tx *metadata.Tx, change rows.Change, wanted metadata.Privilege) (granted metadata.Privilege, isNew bool, err error) {
	change.Action = audit.PrivilegeGrant
	granted, err = tx.Privileges.Of(wanted.UserID, wanted.DataspaceID)
	switch {
	case errors.Is(err, metadata.ErrNotFound):
		wanted.Record = newRecord(tx, change.By)
		return wanted, true, rows.SavePrivilege(tx, change, nil, wanted)
	case err != nil || granted.State == metadata.Active && granted.Role == wanted.Role:
		return granted, false, err
	}
	before := granted
	granted.State, granted.Role = metadata.Active, wanted.Role
	granted.Modified, granted.ModifiedBy = tx.Stamp(), change.By.UserID
	return granted, false, rows.SavePrivilege(tx, change, &before, granted)
}

// GetPrivilege returns one privilege: the caller's own, or one of a dataspace in which the caller
// has a role.
func (s *Service) GetPrivilege(ctx context.Context, p auth.Principal, id string) (v metadata.Privilege, err error) {
	err = s.view(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if v, err = lookupPrivilege(tx, id); err != nil || p.Sysadmin || v.UserID == p.UserID {
			return err
		}
		role, err := roleIn(tx, p.UserID, v.DataspaceID)
		if err == nil && role == auth.None {
			err = forbidden("this privilege is another user's, in a dataspace where you have no role")
		}
		return err
	})
	return v, err
}

// Revoke takes a role away.
func (s *Service) Revoke(ctx context.Context, p auth.Principal, id string, match Match) (v metadata.Privilege, err error) {
	err = s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if v, err = lookupPrivilege(tx, id); err != nil {
			return err
		}
		d, err := tx.Dataspaces.Get(v.DataspaceID)
		if err != nil {
			return err
		}
		if err := authorise(tx, p, d, auth.Manage); err != nil {
			return err
		}
		if err := match.Check(v.Tag(), v.Modified); err != nil || v.State == metadata.Deleted {
			return err
		}
		before := v
		v.State, v.Modified, v.ModifiedBy = metadata.Deleted, tx.Stamp(), p.UserID
		return rows.SavePrivilege(tx, rows.Change{By: p, Action: audit.PrivilegeRevoke}, &before, v)
	})
	return v, err
}
