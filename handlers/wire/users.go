package wire

// User is a person or program that may call the service.
type User struct {
	ID       string `json:"id"`
	URL      string `json:"url"`
	Username string `json:"username"` // unique regardless of case, cannot be changed
	Fullname string `json:"fullname"`
	About    string `json:"about"`
	Sysadmin *bool  `json:"sysadmin,omitempty"` // nil if the caller may not see it
	State    string `json:"state"`              // Active or Deleted
	Quota    int64  `json:"quota,omitempty"`    // limit for the bytes of the user's files; 0: no limit, or the caller may not see it
	ETag     string `json:"-"`                  // entity tag of the record; "" in listings
}

// NewUser describes a user to create. Only Username is required.
type NewUser struct {
	Username string `json:"username"`           // 1 to 100 of letters, digits, . _ - and @
	Fullname string `json:"fullname,omitempty"` // up to 500 characters
	About    string `json:"about,omitempty"`    // up to 16 KiB
	Sysadmin bool   `json:"sysadmin,omitempty"`
	Quota    *int64 `json:"quota,omitempty"` // bytes, 0: no limit; nil: the configured default
}

// UserEdit changes a user; nil fields stay unchanged.
type UserEdit struct {
	Fullname *string `json:"fullname,omitempty"`
	About    *string `json:"about,omitempty"`
	Sysadmin *bool   `json:"sysadmin,omitempty"` // only sysadmins may change it
	Quota    *int64  `json:"quota,omitempty"`    // bytes, 0: no limit; only sysadmins may change it
}

// The states of a key that other records do not have.
const (
	Revoked = "revoked"
	Expired = "expired"
)

// Key is the record of an API key, without the key itself.
type Key struct {
	ID       string `json:"id"`
	Label    string `json:"label"`
	Prefix   string `json:"prefix"` // beginning of the key
	Created  Time   `json:"created"`
	Expires  Time   `json:"expires,omitzero"`   // zero: never
	LastUsed Time   `json:"lastUsed,omitzero"`  // zero: never
	MadeWith string `json:"madeWith,omitempty"` // id of the key whose end also ends this one; "": none
	KeyLimits
	State string `json:"state"` // Active, Revoked or Expired
}

// KeyLimits are what a key permits, where, and from where.
type KeyLimits struct {
	Scope       string   `json:"scope,omitempty"`       // all, write, add or read; in a request, "" is all
	DataspaceID string   `json:"dataspaceId,omitempty"` // the only dataspace; "": all
	SetID       string   `json:"setId,omitempty"`       // the only set; "": all
	Networks    []string `json:"networks,omitempty"`    // prefixes such as 192.0.2.0/24; none: all addresses
}

// NewKey describes a key to create.
type NewKey struct {
	Label   string `json:"label,omitempty"`  // its purpose, up to 100 characters
	Expires Time   `json:"expires,omitzero"` // in the future; zero: the expiry of the caller's key for a key of the same user, otherwise never
	KeyLimits
}

// KeyEdit changes a key; nil fields stay unchanged. DataspaceID and SetID change together.
type KeyEdit struct {
	Label       *string   `json:"label,omitempty"`
	Expires     *string   `json:"expires,omitempty"` // "" for the latest possible time
	Scope       *string   `json:"scope,omitempty"`
	DataspaceID *string   `json:"dataspaceId,omitempty"` // "": all
	SetID       *string   `json:"setId,omitempty"`       // "": all
	Networks    *[]string `json:"networks,omitempty"`    // none: all addresses
}

// CreatedKey is a new key, with the key itself, which is shown only once.
type CreatedKey struct {
	Key
	Secret string `json:"key"`
}

// KeyDependents lists the objects that depend on a key.
type KeyDependents struct {
	Sessions int            `json:"sessions"` // of browsers
	Count    int            `json:"count"`    // keys, links and webhooks
	Data     []KeyDependent `json:"data"`     // the first 1,000 keys, links and webhooks
}

// KeyDependent is a key, a link or a webhook that depends on a key: revoking the key revokes it, or
// pauses the webhook.
type KeyDependent struct {
	Kind     string `json:"kind"` // "key", "webhook", Share, Request or Invitation
	ID       string `json:"id"`
	Label    string `json:"label"` // for a webhook without a label, its URL
	Created  Time   `json:"created"`
	Expires  Time   `json:"expires,omitzero"` // zero: never
	MadeWith string `json:"madeWith"`         // id of the key that created it
}

// The roles in a dataspace.
const (
	Member = "member" // reads
	Editor = "editor" // also writes
	Admin  = "admin"  // also manages the dataspace and its roles
)

// Privilege is the role of a user in a dataspace. A user has at most one role in a dataspace.
type Privilege struct {
	ID           string `json:"id"`
	URL          string `json:"url"`
	UserID       string `json:"userId"`
	UserURL      string `json:"userUrl"`
	DataspaceID  string `json:"dataspaceId"`
	DataspaceURL string `json:"dataspaceUrl"`
	Role         string `json:"role"`  // Member, Editor or Admin
	State        string `json:"state"` // Active, or Deleted once revoked
	ETag         string `json:"-"`     // entity tag of the record; "" in listings
}

// NewPrivilege describes a role to grant.
type NewPrivilege struct {
	UserID      string `json:"userId"`
	DataspaceID string `json:"dataspaceId"`
	Role        string `json:"role"` // Member, Editor or Admin
}

// SignIn exchanges a key for a session.
type SignIn struct {
	Key string `json:"key"`
}

// Session describes the signed-in user.
type Session struct {
	Username string `json:"username"`
	Sysadmin bool   `json:"sysadmin"`
}
