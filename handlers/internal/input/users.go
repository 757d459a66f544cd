package input

import (
	"labshelf/auth"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/links"
	"maps"
)

func userFields(in *containers.UserFields) members {
	return members{
		"fullname": text(&in.Fullname), "about": text(&in.About), "sysadmin": truth(&in.Sysadmin), "quota": quota(&in.Quota),
	}
}

// NewUser decodes username, and the optional fullname, about, sysadmin and quota.
func NewUser(f Object) (in containers.NewUser) {
	if in.Username, in.Malformed = required(f, "username"); in.Malformed == nil {
		in.Malformed = userFields(&in.UserFields).read(f, "username")
	}
	return in
}

// UserEdit decodes the changeable fields of a user. It decodes sysadmin first, because the
// permission to change it is checked before the values of other fields.
func UserEdit(f Object, shown Shown) (in containers.UserFields) {
	if sysadmin, ok := f["sysadmin"].(bool); ok {
		in.Sysadmin = &sysadmin
	}
	in.Malformed = userFields(&in).edit(f, shown, readOnly)
	return in
}

// Account decodes the acceptance of an invitation: username, and the optional fullname.
func Account(f Object) (in links.Account) {
	fields := members{"username": text(new(*string)), "fullname": text(&in.Fullname)}
	for field := range f {
		if fields[field] == nil {
			in.Malformed = unknownField(field, "this request; it takes", []string{"username", "fullname"})
			return in
		}
	}
	if in.Username, in.Malformed = required(f, "username"); in.Malformed == nil {
		in.Malformed = fields.read(f)
	}
	return in
}

func keyFields(in *containers.KeyFields) members {
	return members{
		"label": text(&in.Label), "expires": expires(&in.Expires), "scope": scope(&in.Scope),
		"dataspaceId": text(&in.DataspaceID), "setId": text(&in.SetID), "networks": texts(&in.Networks),
	}
}

// NewKey decodes the fields of a new key, all of which are optional.
func NewKey(f Object) (in containers.KeyFields) {
	fields := keyFields(&in)
	fields["expires"] = instant(&in.Expires)
	in.Malformed = fields.read(f)
	return in
}

// KeyEdit decodes the changeable fields of a key. It ignores the last use, which may have changed
// since the client read the key.
func KeyEdit(f Object, shown Shown) (in containers.KeyFields) {
	f = maps.Clone(f)
	delete(f, "lastUsed")
	in.Malformed = keyFields(&in).edit(f, shown, readOnly)
	return in
}

func scope(at **auth.Scope) func(string, any) error {
	return func(field string, value any) error {
		name, err := str(field, value)
		if err != nil {
			return err
		}
		scope, known := auth.ParseScope(name)
		if !known {
			return core.Invalid(field, "scope must be all, write, add or read")
		}
		*at = &scope
		return nil
	}
}

// NewPrivilege decodes userId, dataspaceId and role.
func NewPrivilege(f Object) (in containers.NewPrivilege, err error) {
	if in.UserID, err = required(f, "userId"); err != nil {
		return in, err
	}
	if in.DataspaceID, err = required(f, "dataspaceId"); err != nil {
		return in, err
	}
	if _, in.Malformed = required(f, "role"); in.Malformed == nil {
		in.Malformed = members{"role": role(&in.Role)}.read(f, "userId", "dataspaceId")
	}
	return in, nil
}
