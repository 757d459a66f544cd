package client

import (
	"context"
	"iter"
	"net/http"
)

// Me is the id by which every caller may call itself.
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

// Create makes a user, who has no key: make one with Keys.Create. It is for sysadmins.
func (s Users) Create(ctx context.Context, u NewUser) (User, error) {
	return one[User](ctx, s.c, request{method: http.MethodPost, path: at("users"), in: u, once: true})
}

// Edit changes a user and returns the new state. A caller who is no sysadmin may change only
// its own user.
func (s Users) Edit(ctx context.Context, id string, edit UserEdit, when ...Condition) (User, error) {
	return one[User](ctx, s.c, request{method: http.MethodPut, path: at("users", id), in: edit}.under(when))
}

// Delete deletes a user, whose keys and links stop working for good, and whose webhooks pause.
// That the user was deleted already is no error. It is for sysadmins.
func (s Users) Delete(ctx context.Context, id string, when ...Condition) error {
	return s.c.nothing(ctx, request{method: http.MethodDelete, path: at("users", id)}.under(when))
}

// Restore brings back a deleted user without the keys. That the user is active already is no
// error. It is for sysadmins.
func (s Users) Restore(ctx context.Context, id string, when ...Condition) (User, error) {
	return one[User](ctx, s.c, request{method: http.MethodPost, path: at("users", id, "restore")}.under(when))
}

// Keys are the calls about the keys of users.
type Keys struct{ c *caller }

// List lists the keys of a user, revoked and expired ones included, by creation. It takes Limit. A
// caller who is no sysadmin may list only its own keys.
func (s Keys) List(ctx context.Context, userID string, o ListOptions) iter.Seq2[Key, error] {
	return list[Key](ctx, s.c, o, "users", userID, "keys")
}

// Create makes a key for a user. A caller who is no sysadmin may make only its own keys.
func (s Keys) Create(ctx context.Context, userID string, k NewKey) (CreatedKey, error) {
	return one[CreatedKey](ctx, s.c, request{method: http.MethodPost, path: at("users", userID, "keys"), in: k, once: true})
}

// Dependents reads what would end with a key if it were revoked now. A caller who is no
// sysadmin may ask only about its own keys.
func (s Keys) Dependents(ctx context.Context, userID, keyID string) (d KeyDependents, err error) {
	err = s.c.run(ctx, request{method: http.MethodGet, path: at("users", userID, "keys", keyID, "dependents")}, func(response *http.Response) error {
		d = KeyDependents{}
		return read(response, &d)
	})
	return d, err
}

// Revoke ends a key for good, and what depends on it. Revoking it again is no error. A caller
// who is no sysadmin may revoke only its own keys.
func (s Keys) Revoke(ctx context.Context, userID, keyID string) error {
	return s.c.nothing(ctx, request{method: http.MethodDelete, path: at("users", userID, "keys", keyID)})
}

// Replace is Revoke for a key that another one replaces: what depends on it stays, and ends
// no later than before.
func (s Keys) Replace(ctx context.Context, userID, keyID string) error {
	return s.c.nothing(ctx, request{method: http.MethodDelete, path: at("users", userID, "keys", keyID) + "?dependents=keep"})
}
