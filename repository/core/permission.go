package core

import (
	"errors"
	"fmt"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
)

// ErrUnknownKey is the cause of the refusal of an unknown key. One that is expired or revoked has
// another.
var ErrUnknownKey = errors.New("nobody has this key")

// unauthenticated is the one answer to no key, an unknown, an expired and a revoked key.
func unauthenticated() *errs.Error {
	return &errs.Error{Kind: errs.Unauthenticated, Code: errs.CodeUnauthenticated, Message: "a valid API key is needed in the Authorization header"}
}

// Forbidden returns an error of the kind Forbidden.
func Forbidden(format string, args ...any) *errs.Error {
	return &errs.Error{Kind: errs.Forbidden, Code: errs.CodeForbidden, Message: fmt.Sprintf(format, args...)}
}

// Authorise tells whether the caller may do something in a dataspace.
func Authorise(tx *metadata.Tx, p auth.Principal, d metadata.Dataspace, action auth.Action) error {
	switch {
	case p.Sysadmin, p.Anonymous && action == auth.Read && d.Visibility == metadata.Open:
		return nil
	case p.Anonymous:
		return unauthenticated()
	}
	role, err := RoleIn(tx, p.UserID, d.ID)
	if err != nil {
		return err
	}
	if role.Allows(action) || action == auth.Read && d.Visibility.ToUsers() {
		return nil
	}
	if role == auth.None {
		return Forbidden("you have no role in this dataspace; it needs %s", needs(action))
	}
	return Forbidden("you are %s in this dataspace; it needs %s", role, needs(action))
}

// needs names the weakest role that allows the action.
func needs(action auth.Action) string {
	role := auth.Member
	for !role.Allows(action) {
		role++
	}
	return role.String()
}

// OnlySysadmin refuses everybody else.
func OnlySysadmin(p auth.Principal) error {
	if !p.Sysadmin {
		return Forbidden("only a sysadmin may do this")
	}
	return nil
}

// Oneself lets users act for themselves, and sysadmins for every user.
func Oneself(p auth.Principal, user metadata.ID) error {
	if p.Sysadmin || p.UserID == user {
		return nil
	}
	return Forbidden("only this user and sysadmins may do this")
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
