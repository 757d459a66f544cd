package wire

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
	ETag     string `json:"-"`                  // of the answer; "" in listings
}

// NewUser is a user to be created. Only Username is needed.
type NewUser struct {
	Username string `json:"username"`           // 1 to 100 of letters, digits, . _ - and @
	Fullname string `json:"fullname,omitempty"` // up to 500 characters
	About    string `json:"about,omitempty"`    // up to 16 KiB
	Sysadmin bool   `json:"sysadmin,omitempty"`
	Quota    *int64 `json:"quota,omitempty"` // bytes, 0 for no limit; nil: the default of the configuration
}

// UserEdit changes a user; nil fields stay.
type UserEdit struct {
	Fullname *string `json:"fullname,omitempty"`
	About    *string `json:"about,omitempty"`
	Sysadmin *bool   `json:"sysadmin,omitempty"` // only sysadmins change it
	Quota    *int64  `json:"quota,omitempty"`    // bytes, 0 for no limit; only sysadmins change it
}

// The states of a key that are not those of other records.
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
	MadeWith string `json:"madeWith,omitempty"` // id of the key with which this one ends; "": none
	State    string `json:"state"`              // Active, Revoked or Expired
}

// NewKey is a key to be created.
type NewKey struct {
	Label   string `json:"label,omitempty"`  // its purpose, up to 100 characters
	Expires Time   `json:"expires,omitzero"` // in the future; zero: with the caller's key where the key is its user's own, else never
}

// CreatedKey is a new key, with the key itself, which is shown only once.
type CreatedKey struct {
	Key
	Secret string `json:"key"`
}

// KeyDependents is what ends with a key.
type KeyDependents struct {
	Sessions int            `json:"sessions"` // of browsers
	Count    int            `json:"count"`    // keys, links and webhooks
	Data     []KeyDependent `json:"data"`     // the first 1,000 of them
}

// KeyDependent is a key, a link or a webhook that ends with a key.
type KeyDependent struct {
	Kind     string `json:"kind"` // "key", "webhook", Share, Request or Invitation
	ID       string `json:"id"`
	Label    string `json:"label"` // of a webhook without a label, where it sends
	Created  Time   `json:"created"`
	Expires  Time   `json:"expires,omitzero"` // zero: never
	MadeWith string `json:"madeWith"`         // id of the key that made it
}

// The roles in a dataspace.
const (
	Member = "member" // reads
	Editor = "editor" // also writes
	Admin  = "admin"  // also manages the dataspace and its roles
)

// Privilege is the role of one user in one dataspace, of which there is one at most.
type Privilege struct {
	ID           string `json:"id"`
	URL          string `json:"url"`
	UserID       string `json:"userId"`
	UserURL      string `json:"userUrl"`
	DataspaceID  string `json:"dataspaceId"`
	DataspaceURL string `json:"dataspaceUrl"`
	Role         string `json:"role"`  // Member, Editor or Admin
	State        string `json:"state"` // Active or, once revoked, Deleted
	ETag         string `json:"-"`     // of the answer; "" in listings
}

// NewPrivilege is a role to be granted.
type NewPrivilege struct {
	UserID      string `json:"userId"`
	DataspaceID string `json:"dataspaceId"`
	Role        string `json:"role"` // Member, Editor or Admin
}

// SignIn trades a key for a session.
type SignIn struct {
	Key string `json:"key"`
}

// Session authenticates a browser in place of a key.
type Session struct {
	Username string `json:"username"`
	Sysadmin bool   `json:"sysadmin"`
}
