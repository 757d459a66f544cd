package repository

import (
	"errors"

	"labshelf/auth"
)

// unauthenticated is the one answer to no key, an unknown, an expired and a revoked key.
func unauthenticated() *Error {
	return &Error{Kind: Unauthenticated, Code: CodeUnauthenticated, Message: "a valid API key is needed in the Authorization header"}
}

// authorise tells whether the caller may do something in a dataspace.
func authorise(tx *Tx, p auth.Principal, d Dataspace, action auth.Action) error {
	if p.Sysadmin {
		return nil
	}
	role, err := roleIn(tx, p.UserID, d.ID)
	if err != nil {
		return err
	}
	if role.Allows(action) || action == auth.Read && d.Visibility == Public {
		return nil
	}
	if role == auth.None {
		return forbidden("you have no role in this dataspace; it needs %s", needs(action))
	}
	return forbidden("you are %s in this dataspace; it needs %s", role, needs(action))
}

// needs names the weakest role that allows the action.
func needs(action auth.Action) string {
	role := auth.Member
	for !role.Allows(action) {
		role++
	}
	return role.String()
}

// roleIn returns the role of a user in a dataspace, None without one.
func roleIn(tx *Tx, user, dataspace ID) (auth.Role, error) {
	privilege, err := tx.Privileges.Of(user, dataspace)
	switch {
	case errors.Is(err, ErrNotFound):
		return auth.None, nil
	case err != nil:
		return auth.None, err
	case privilege.State != Active:
		return auth.None, nil
	}
	return privilege.Role, nil
}

// onlySysadmin refuses everybody else.
func onlySysadmin(p auth.Principal) error {
	if !p.Sysadmin {
		return forbidden("only a sysadmin may do this")
	}
	return nil
}

// oneself lets a user act for himself and sysadmins for everybody.
func oneself(p auth.Principal, user ID) error {
	if p.Sysadmin || p.UserID == user {
		return nil
	}
	return forbidden("only this user and sysadmins may do this")
}

// readable returns the dataspaces that the caller may read, ascending by id, from those greater than after; nil stands for
// every one. Deleted ones are among them.
func readable(tx *Tx, p auth.Principal, after ID) ([]ID, error) {
	if p.Sysadmin {
		return nil, nil
	}
	ids := []ID{}
	for privilege, err := range tx.Privileges.OfUser(p.UserID, after) {
		if err != nil {
			return nil, err
		}
		if privilege.State == Active {
			ids = append(ids, privilege.DataspaceID)
		}
	}
	roles := len(ids)
	for id, err := range tx.Dataspaces.Public(after) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return mergeIDs(ids[:roles], ids[roles:]), nil
}

// mergeIDs unites two ascending lists.
func mergeIDs(a, b []ID) []ID {
	merged := make([]ID, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch c := a[0].Compare(b[0]); {
		case c < 0:
			merged, a = append(merged, a[0]), a[1:]
		case c > 0:
			merged, b = append(merged, b[0]), b[1:]
		default:
			merged, a, b = append(merged, a[0]), a[1:], b[1:]
		}
	}
	return append(append(merged, a...), b...)
}
