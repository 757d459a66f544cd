package encode

import (
	"labshelf/handlers/wire"
	"labshelf/metadata"
)

// User returns the wire form of a user. complete adds the fields that only sysadmins and the user
// may see.
func User(base string, u metadata.User, complete bool) wire.User {
	shown := wire.User{
		ID: u.ID.String(), URL: base + "/users/" + u.ID.String(), Username: u.Username, Fullname: u.Fullname, About: u.About, State: u.State.String(),
	}
	if complete {
		shown.Sysadmin, shown.Quota = &u.Sysadmin, u.Quota
	}
	return shown
}
