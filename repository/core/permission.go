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

// elsewhere returns the error for a key that is used outside of its networks.
func elsewhere() *errs.Error {
	return keyLimited("this key may not be used from your network address")
}

// Forbidden returns an error of the kind Forbidden.
func Forbidden(format string, args ...any) *errs.Error {
	return &errs.Error{Kind: errs.Forbidden, Code: errs.CodeForbidden, Message: fmt.Sprintf(format, args...)}
}

// Authorise returns an error if the caller is not allowed to perform an action in a dataspace
// itself, as opposed to one of its sets.
func Authorise(tx *metadata.Tx, p auth.Principal, d metadata.Dataspace, action auth.Action) error {
	return AuthoriseIn(tx, p, d, metadata.ID{}, action)
}

// Authorise returns an error if the caller is not allowed to perform an action in the set.
func (s ResolvedSet) Authorise(tx *metadata.Tx, p auth.Principal, action auth.Action) error {
	return AuthoriseIn(tx, p, s.Dataspace, s.ID, action)
}

// AuthoriseIn is like Authorise for a set of the dataspace, or for the dataspace itself if set is
// zero. It compares the action with the limits of the key, and then with the role of the user.
func AuthoriseIn(tx *metadata.Tx, p auth.Principal, d metadata.Dataspace, set metadata.ID, action auth.Action) error {
	switch {
	case !p.Limits.Permits(d.ID, set, action):
		return beyondLimits(p.Limits)
	case p.Everywhere, p.Anonymous && action == auth.Read && d.Visibility == metadata.Open:
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

func keyLimited(format string, args ...any) *errs.Error {
	return &errs.Error{Kind: errs.Forbidden, Code: errs.CodeKeyLimited, Message: fmt.Sprintf(format, args...)}
}

// beyondLimits returns the error for a request that the limits of the key do not permit.
func beyondLimits(l auth.Limits) *errs.Error {
	may := map[auth.Scope]string{auth.ScopeAll: "do everything", auth.ScopeWrite: "read and write files", auth.ScopeAdd: "only add files", auth.ScopeRead: "only read"}[l.Scope]
	switch {
	case l.Set != (metadata.ID{}):
		may += " in the set " + l.Set.String()
	case l.Dataspace != (metadata.ID{}):
		may += " in the dataspace " + l.Dataspace.String()
	}
	return keyLimited("this key may %s; use another key for this request", may)
}

// Unlimited returns an error if the key of the caller is narrow. Use cases about users, keys,
// sessions, the audit log and the whole repository call it.
func Unlimited(p auth.Principal) error {
	if p.Limits.Narrow() {
		return beyondLimits(p.Limits)
	}
	return nil
}

// Passing returns the caller as one who passes through a dataspace to a set. A key for one set
// permits that: it shows the record of the dataspace, and listings of it with nothing but the set.
func Passing(p auth.Principal) auth.Principal {
	p.Limits.Set = metadata.ID{}
	return p
}

// Permitted returns an error if the key of the caller permits an action nowhere.
func Permitted(p auth.Principal, action auth.Action) error {
	if !p.Limits.Scope.Allows(action) {
		return beyondLimits(p.Limits)
	}
	return nil
}

// Reads returns an error if the key of the caller may not read all that its user may read.
func Reads(p auth.Principal) error {
	if !p.Limits.Permits(metadata.ID{}, metadata.ID{}, auth.Read) {
		return beyondLimits(p.Limits)
	}
	return nil
}

// OnlySysadmin returns an error if the caller is not a sysadmin.
func OnlySysadmin(p auth.Principal) error {
	if err := Unlimited(p); err != nil {
		return err
	}
	if !p.Sysadmin {
		return Forbidden("only a sysadmin may do this")
	}
	return nil
}

// Oneself returns an error unless the caller is this user or a sysadmin.
func Oneself(p auth.Principal, user metadata.ID) error {
	if err := Unlimited(p); err != nil {
		return err
	}
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
