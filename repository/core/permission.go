package core

import (
	"errors"
	"fmt"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
)

// ErrUnknownKey is the cause of the refusal of an unknown key, but not of an expired or revoked
// one.
var ErrUnknownKey = errors.New("unknown key")

// unauthenticated returns the common error for missing, unknown, expired and revoked keys.
func unauthenticated() *errs.Error {
	return &errs.Error{Kind: errs.Unauthenticated, Code: errs.CodeUnauthenticated, Message: "a valid API key is needed in the Authorization header"}
}

// Forbidden returns an error of the kind Forbidden.
func Forbidden(format string, args ...any) *errs.Error {
	return &errs.Error{Kind: errs.Forbidden, Code: errs.CodeForbidden, Message: fmt.Sprintf(format, args...)}
}

// Authorise returns an error if the caller is not allowed to perform an action in a dataspace.
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
		return Forbidden("you have no role in this dataspace; required: %s", needs(action))
	}
	return Forbidden("your role in this dataspace is %s; required: %s", role, needs(action))
}

// needs names the weakest role that allows the action.
func needs(action auth.Action) string {
	role := auth.Member
	for !role.Allows(action) {
		role++
	}
	return role.String()
}

// OnlySysadmin returns an error if the caller is not a sysadmin.
func OnlySysadmin(p auth.Principal) error {
	if !p.Sysadmin {
		return Forbidden("only a sysadmin may do this")
	}
	return nil
}

// Oneself returns an error unless the caller is this user or a sysadmin.
func Oneself(p auth.Principal, user metadata.ID) error {
	if p.Sysadmin || p.UserID == user {
		return nil
	}
	return Forbidden("only this user and sysadmins may do this")
}

// mergeIDs merges two ascending lists and drops duplicates.
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
