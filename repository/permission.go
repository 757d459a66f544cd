package repository

import (
	"labshelf/auth"
	"labshelf/errs"
	"labshelf/metadata"
)

// unauthenticated is the one answer to no key, an unknown, an expired and a revoked key.
func unauthenticated() *errs.Error {
	return &errs.Error{Kind: errs.Unauthenticated, Code: errs.CodeUnauthenticated, Message: "a valid API key is needed in the Authorization header"}
}

// authorise tells whether the caller may do something in a dataspace.
func authorise(tx *metadata.Tx, p auth.Principal, d metadata.Dataspace, action auth.Action) error {
	if p.Sysadmin {
		return nil
	}
	role, err := roleIn(tx, p.UserID, d.ID)
	if err != nil {
		return err
	}
	if role.Allows(action) || action == auth.Read && d.Visibility == metadata.Public {
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

// onlySysadmin refuses everybody else.
func onlySysadmin(p auth.Principal) error {
	if !p.Sysadmin {
		return forbidden("only a sysadmin may do this")
	}
	return nil
}

// oneself lets a user act for himself and sysadmins for everybody.
func oneself(p auth.Principal, user metadata.ID) error {
	if p.Sysadmin || p.UserID == user {
		return nil
	}
	return forbidden("only this user and sysadmins may do this")
}

// mergeIDs unites two ascending lists.
func mergeIDs(a, b []metadata.ID) []metadata.ID {
	merged := make([]metadata.ID, 0, len(a)+len(b))
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
