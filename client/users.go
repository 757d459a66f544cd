package client

import (
	"context"
	"iter"
	"net/http"
)

// Me is the id by which every caller may call itself.
const Me = "me"

// Users lists the users, by creation. It takes State and Limit.
func (c *Client) Users(ctx context.Context, o ListOptions) iter.Seq2[User, error] {
	return list[User](ctx, c, o, "users")
}

// User reads a user.
func (c *Client) User(ctx context.Context, id string, when ...Condition) (User, error) {
	return one[User](ctx, c, request{method: http.MethodGet, path: at("users", id)}.under(when))
}

// Me reads the user whose key the client has.
func (c *Client) Me(ctx context.Context) (User, error) { return c.User(ctx, Me) }

// NewUser makes a user, who has no key: make one with NewKey. It is for sysadmins.
func (c *Client) NewUser(ctx context.Context, u NewUser) (User, error) {
	return one[User](ctx, c, request{method: http.MethodPost, path: at("users"), in: u, once: true})
}

// EditUser changes a user and returns the new state. A caller who is no sysadmin may change only
// its own user.
func (c *Client) EditUser(ctx context.Context, id string, edit UserEdit, when ...Condition) (User, error) {
	return one[User](ctx, c, request{method: http.MethodPut, path: at("users", id), in: edit}.under(when))
}

// DeleteUser deletes a user, whose keys and links stop working for good, and whose webhooks pause.
// That the user was deleted already is no error. It is for sysadmins.
func (c *Client) DeleteUser(ctx context.Context, id string, when ...Condition) error {
	return c.nothing(ctx, request{method: http.MethodDelete, path: at("users", id)}.under(when))
}

// RestoreUser brings back a deleted user without the keys. That the user is active already is no
// error. It is for sysadmins.
func (c *Client) RestoreUser(ctx context.Context, id string, when ...Condition) (User, error) {
	return one[User](ctx, c, request{method: http.MethodPost, path: at("users", id, "restore")}.under(when))
}

// Keys lists the keys of a user, revoked and expired ones included, by creation. It takes Limit. A
// caller who is no sysadmin may list only its own keys.
func (c *Client) Keys(ctx context.Context, userID string, o ListOptions) iter.Seq2[Key, error] {
	return list[Key](ctx, c, o, "users", userID, "keys")
}

// NewKey makes a key for a user. A caller who is no sysadmin may make only its own keys.
func (c *Client) NewKey(ctx context.Context, userID string, k NewKey) (CreatedKey, error) {
	return one[CreatedKey](ctx, c, request{method: http.MethodPost, path: at("users", userID, "keys"), in: k, once: true})
}

// KeyDependents reads what would end with a key if it were revoked now. A caller who is no
// sysadmin may ask only about its own keys.
func (c *Client) KeyDependents(ctx context.Context, userID, keyID string) (d KeyDependents, err error) {
	err = c.run(ctx, request{method: http.MethodGet, path: at("users", userID, "keys", keyID, "dependents")}, func(response *http.Response) error {
		d = KeyDependents{}
		return read(response, &d)
	})
	return d, err
}

// RevokeKey ends a key for good, and what depends on it. Revoking it again is no error. A caller
// who is no sysadmin may revoke only its own keys.
func (c *Client) RevokeKey(ctx context.Context, userID, keyID string) error {
	return c.nothing(ctx, request{method: http.MethodDelete, path: at("users", userID, "keys", keyID)})
}

// ReplaceKey is RevokeKey for a key that another one replaces: what depends on it stays, and ends
// no later than before.
func (c *Client) ReplaceKey(ctx context.Context, userID, keyID string) error {
	return c.nothing(ctx, request{method: http.MethodDelete, path: at("users", userID, "keys", keyID) + "?dependents=keep"})
}
