package client

import (
	"context"
	"iter"
	"net/http"
)

// Me is the id with which every caller can refer to itself.
const Me = "me"

// Users are the calls about users.
type Users struct{ c *caller }

// List lists the users, by creation. It takes State and Limit.
func (s Users) List(ctx context.Context, o ListOptions) iter.Seq2[User, error] {
	return list[User](ctx, s.c, o, "users")
}

// Get reads a user.
func (s Users) Get(ctx context.Context, id string, when ...Condition) (User, error) {
	return one[User](ctx, s.c, request{method: http.MethodGet, path: at("users", id)}.under(when))
}

// Me reads the user whose key the client has.
func (s Users) Me(ctx context.Context) (User, error) { return s.Get(ctx, Me) }

// Create creates a user without a key: create one with Keys.Create. It is for sysadmins.
func (s Users) Create(ctx context.Context, u NewUser) (User, error) {
	return one[User](ctx, s.c, request{method: http.MethodPost, path: at("users"), in: u, once: true})
}

// Edit changes a user and returns the new state. Callers other than sysadmins may change only their
// own user.
func (s Users) Edit(ctx context.Context, id string, edit UserEdit, when ...Condition) (User, error) {
	return one[User](ctx, s.c, request{method: http.MethodPut, path: at("users", id), in: edit}.under(when))
}

// Delete deletes a user. The user's keys and links stop working permanently, and the webhooks
// pause. A user who is already deleted is not an error. It is for sysadmins.
func (s Users) Delete(ctx context.Context, id string, when ...Condition) error {
	return s.c.nothing(ctx, request{method: http.MethodDelete, path: at("users", id)}.under(when))
}

// Restore restores a deleted user without the keys. An active user is not an error. It is for
// sysadmins.
func (s Users) Restore(ctx context.Context, id string, when ...Condition) (User, error) {
	return one[User](ctx, s.c, request{method: http.MethodPost, path: at("users", id, "restore")}.under(when))
}

// Keys are the calls about the keys of users.
type Keys struct{ c *caller }

// List lists the keys of a user, including revoked and expired ones, by creation. It takes Limit.
// Callers other than sysadmins may list only their own keys.
func (s Keys) List(ctx context.Context, userID string, o ListOptions) iter.Seq2[Key, error] {
	return list[Key](ctx, s.c, o, "users", userID, "keys")
}

// Create creates a key for a user. Callers other than sysadmins may create only their own keys.
func (s Keys) Create(ctx context.Context, userID string, k NewKey) (CreatedKey, error) {
	return one[CreatedKey](ctx, s.c, request{method: http.MethodPost, path: at("users", userID, "keys"), in: k, once: true})
}

// Get returns a key, without the key itself. Callers other than sysadmins may read only their own
// keys.
func (s Keys) Get(ctx context.Context, userID, keyID string) (Key, error) {
	return one[Key](ctx, s.c, request{method: http.MethodGet, path: at("users", userID, "keys", keyID)})
}

// Edit changes a key. If a key without limits becomes narrow, the objects that depend on it end.
// Callers other than sysadmins may change only their own keys.
func (s Keys) Edit(ctx context.Context, userID, keyID string, edit KeyEdit) (Key, error) {
	return one[Key](ctx, s.c, request{method: http.MethodPut, path: at("users", userID, "keys", keyID), in: edit})
}

// Narrow is Edit, and keeps the objects that depend on the key. They then depend on its maker.
func (s Keys) Narrow(ctx context.Context, userID, keyID string, edit KeyEdit) (Key, error) {
	return one[Key](ctx, s.c, request{method: http.MethodPut, path: at("users", userID, "keys", keyID) + "?dependents=keep", in: edit})
}

// Dependents returns the objects that depend on a key: revoking the key revokes them, or pauses the
// webhooks. Callers other than sysadmins may read only the dependents of their own keys.
func (s Keys) Dependents(ctx context.Context, userID, keyID string) (d KeyDependents, err error) {
	err = s.c.run(ctx, request{method: http.MethodGet, path: at("users", userID, "keys", keyID, "dependents")}, func(response *http.Response) error {
		d = KeyDependents{}
		return read(response, &d)
	})
	return d, err
}

// Revoke ends a key permanently, and the objects that depend on it. Revoking it again is not an
// error. Callers other than sysadmins may revoke only their own keys.
func (s Keys) Revoke(ctx context.Context, userID, keyID string) error {
	return s.c.nothing(ctx, request{method: http.MethodDelete, path: at("users", userID, "keys", keyID)})
}

// Replace is like Revoke for a key that another one replaces: the objects that depend on it stay,
// and end no later than before.
func (s Keys) Replace(ctx context.Context, userID, keyID string) error {
	return s.c.nothing(ctx, request{method: http.MethodDelete, path: at("users", userID, "keys", keyID) + "?dependents=keep"})
}
