package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// Me is the id by which every caller may call itself.
const Me = "me"

// User is a person or program that may call the service.
type User struct {
	ID       string `json:"id"`
	URL      string `json:"url"`
	Username string `json:"username"` // unique without regard to case, fixed
	Fullname string `json:"fullname"`
	About    string `json:"about"`
	Sysadmin *bool  `json:"sysadmin,omitempty"` // nil where the caller may not know
	State    string `json:"state"`              // Active or Deleted
	Quota    int64  `json:"quota,omitempty"`    // bytes of what the user has stored, at most; 0: no limit, or the caller may not know
	ETag     string `json:"-"`                  // for IfMatch and IfNoneMatch; "" in listings
}

func (u *User) identify(etag string) string {
	u.ETag = etag
	return u.ID
}

// NewUser is a user to be made. Only Username is needed.
type NewUser struct {
	Username string `json:"username"`           // 1 to 100 of letters, digits, . _ - and @
	Fullname string `json:"fullname,omitempty"` // up to 500 characters
	About    string `json:"about,omitempty"`    // up to 16 KiB
	Sysadmin bool   `json:"sysadmin,omitempty"`
	Quota    *int64 `json:"quota,omitempty"` // bytes, 0 for no limit; nil: that of the configuration
}

// UserEdit changes a user; nil fields stay.
type UserEdit struct {
	Fullname *string `json:"fullname,omitempty"`
	About    *string `json:"about,omitempty"`
	Sysadmin *bool   `json:"sysadmin,omitempty"` // only sysadmins change it
	Quota    *int64  `json:"quota,omitempty"`    // bytes, 0 for no limit; only sysadmins change it
}

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

// Key is the record of an API key, without the key itself.
type Key struct {
	ID       string    `json:"id"`
	Label    string    `json:"label"`
	Prefix   string    `json:"prefix"` // beginning of the key
	Created  time.Time `json:"created"`
	Expires  time.Time `json:"expires,omitzero"`   // zero: never
	LastUsed time.Time `json:"lastUsed,omitzero"`  // zero: never
	MadeWith string    `json:"madeWith,omitempty"` // id of the key with which this one ends; "": none
	State    string    `json:"state"`              // Active, "revoked" or "expired"
}

// NewKey is a key to be made.
type NewKey struct {
	Label   string    `json:"label,omitempty"`  // what it is for, up to 100 characters
	Expires time.Time `json:"expires,omitzero"` // in the future; zero: with the client's key where the key is its user's own, else never
}

// CreatedKey is a new key, with the key itself, which is shown only once.
type CreatedKey struct {
	Key
	Secret string `json:"key"` // for New
}

func (k *CreatedKey) identify(string) string { return k.ID }

// Keys lists the keys of a user, revoked and expired ones included, by creation. It takes Limit. A
// caller who is no sysadmin may list only its own keys.
func (c *Client) Keys(ctx context.Context, userID string, o ListOptions) iter.Seq2[Key, error] {
	return list[Key](ctx, c, o, "users", userID, "keys")
}

// NewKey makes a key for a user. A caller who is no sysadmin may make only its own keys.
func (c *Client) NewKey(ctx context.Context, userID string, k NewKey) (CreatedKey, error) {
	return one[CreatedKey](ctx, c, request{method: http.MethodPost, path: at("users", userID, "keys"), in: k, once: true})
}

// KeyDependents is what ends with a key.
type KeyDependents struct {
	Sessions int            `json:"sessions"` // of browsers
	Count    int            `json:"count"`    // keys, links and webhooks
	Data     []KeyDependent `json:"data"`     // the first 1,000 of them
}

// KeyDependent is a key, a link or a webhook that ends with a key.
type KeyDependent struct {
	Kind     string    `json:"kind"` // "key", "webhook", Share, Request or Invitation
	ID       string    `json:"id"`
	Label    string    `json:"label"` // of a webhook without a label, where it sends
	Created  time.Time `json:"created"`
	Expires  time.Time `json:"expires,omitzero"` // zero: never
	MadeWith string    `json:"madeWith"`         // id of the key that made it
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
